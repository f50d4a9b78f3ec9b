"""Small changes to a program, each of which a test should notice."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: What becomes of a node, in words and as a function of the node.
Made = tuple[str, Callable[[ast.AST], ast.AST]]
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
#: Names that are taken for each other.
NAMED = {
    a: b
    for pair in (
        *(("min", "max"), ("any", "all"), ("minimum", "maximum"), ("argmin", "argmax")),
        *(("zeros", "ones"), ("floor", "ceil"), ("hstack", "vstack"), ("sum", "mean")),
        *(("zeros_like", "ones_like"), ("nanmin", "nanmax"), ("cumsum", "cumprod")),
    )
    for a, b in (pair, pair[::-1])
}
#: Functions whose arguments are messages or types.
CALLED = ("add", "cast", "isinstance", "TypeVar")
#: Methods whose body is words alone.
WORDS = ("__repr__", "__str__", "_repr_html_", "__sklearn_tags__", "__dir__")


@dataclass(frozen=True)
class Change:
    """One change: the node that changes, counted as `ast.walk` meets it, and what becomes of it."""

    node: int
    line: int
    what: str
    make: Callable[[ast.AST], ast.AST]


def changes(tree: ast.Module) -> list[Change]:
    """List every change of a module, leaving out words, annotations and imports."""
    left_out = _left_out(tree)
    found = []
    for i, node in enumerate(ast.walk(tree)):
        if id(node) not in left_out:
            line = getattr(node, "lineno", 0)
            found += [Change(i, line, what, make) for what, make in _of(node)]
    return found


def changed(source: str, change: Change) -> ast.Module:
    """Return the module with one change."""
    tree = ast.parse(source)
    target = list(ast.walk(tree))[change.node]

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if node is target:
                return ast.copy_location(change.make(node), node)
            return self.generic_visit(node)

    made: ast.Module = Put().visit(tree)
    return ast.fix_missing_locations(made)


def _left_out(tree: ast.Module) -> set[int]:
    """Return what is not changed: words, types, what is raised, and lists of public names."""
    found: set[int] = set()

    def leave(*nodes: ast.AST | None) -> None:
        found.update(id(inner) for node in nodes if node is not None for inner in ast.walk(node))

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            leave(node.returns, *node.decorator_list)
            leave(*(node.body if node.name in WORDS else ()))
        elif isinstance(node, ast.arg | ast.AnnAssign):
            leave(node.annotation)
        elif isinstance(node, ast.Raise):
            leave(node.exc, node.cause)
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            # Of `zip`: it asserts what holds in a right program.
            leave(node)
        elif isinstance(node, ast.Call) and _name(node.func) in CALLED:
            leave(*node.args)
        elif _is_words(node):
            leave(node)
    return found


def _is_words(node: ast.AST) -> bool:
    """Say whether a node is a text, an import, or there for readers and type checkers alone."""
    if isinstance(node, ast.Assign):
        return _name(node.targets[0]) == "__all__"
    if isinstance(node, ast.If):
        return _name(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom)


def _of(node: ast.AST) -> Iterator[Made]:
    """Yield what can become of one node, in words and as a function of the node."""
    if isinstance(node, ast.stmt) and not isinstance(node, ast.AugAssign):
        yield from _statement(node)
    elif isinstance(node, ast.Compare):
        yield from _compare(node)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in COMPUTED:
        new = COMPUTED[type(node.op)]
        yield f"{type(node.op).__name__} to {new.__name__}", lambda n: _with(n, op=new())
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"to {other.__name__}", lambda n: _with(n, op=other())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield f"no {type(node.op).__name__}", lambda n: n.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.IfExp):
        yield "the other way", _turned
    elif isinstance(node, ast.Constant):
        yield from _constant(node.value)
    elif isinstance(node, ast.Name | ast.Attribute) and _name(node) in NAMED:
        new_name = NAMED[_name(node)]
        key = "id" if isinstance(node, ast.Name) else "attr"
        yield f"{_name(node)} to {new_name}", lambda n: _with(n, **{key: new_name})


def _statement(node: ast.stmt) -> Iterator[Made]:
    if isinstance(node, ast.If | ast.While):
        yield "the other way", _turned
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "return None", lambda n: _with(n, value=ast.Constant(None))
    elif isinstance(node, ast.Raise):
        yield "no raise", lambda _: ast.Pass()
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "no call", lambda _: ast.Pass()
    elif isinstance(node, ast.Continue | ast.Break):
        other = ast.Break if isinstance(node, ast.Continue) else ast.Continue
        yield f"to {other.__name__}", lambda _: other()


def _turned(node: ast.AST) -> ast.AST:
    return _with(node, test=ast.UnaryOp(ast.Not(), node.test))  # type: ignore[attr-defined]


def _compare(node: ast.Compare) -> Iterator[Made]:
    for j, operator in enumerate(node.ops):
        new = COMPARED[type(operator)]

        def make(n: ast.AST, j: int = j, new: type[ast.cmpop] = new) -> ast.AST:
            ops = list(n.ops)  # type: ignore[attr-defined]
            return _with(n, ops=[*ops[:j], new(), *ops[j + 1 :]])

        yield f"{type(operator).__name__} to {new.__name__}", make


def _constant(value: object) -> Iterator[Made]:
    if isinstance(value, bool):
        yield f"{value} to {not value}", lambda _: ast.Constant(not value)
    elif isinstance(value, int | float):
        new = value + 1 if isinstance(value, int) or value == 0.0 else 2.0 * value
        yield f"{value} to {new}", lambda _: ast.Constant(new)


def _with(node: ast.AST, **parts: object) -> ast.AST:
    fields = dict(ast.iter_fields(node)) | parts
    return ast.copy_location(type(node)(**fields), node)


def _name(node: ast.AST) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", ""))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
