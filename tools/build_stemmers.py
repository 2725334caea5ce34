"""Translate Snowball's stemmers to JavaScript modules, one per language.

tools/build_web.py writes the result. Snowball's compiler turns its algorithms into Python, and the
pure-Python package on the registry contains that code. It is regular enough (a dozen kinds of
statements) to be translated statement by statement. tests/doors/browser compares each stemmer with
PyStemmer.
"""

import ast
import json
import zipfile
from pathlib import Path

from pinned import archive

SNOWBALL = "snowballstemmer==3.1.1"
COMPARED = {ast.Eq: "===", ast.NotEq: "!==", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
CALCULATED = {ast.Add: "+", ast.Sub: "-"}


def expression(node):
    """Translate an expression."""
    match node:
        case ast.Constant(value=value):
            return json.dumps(value, ensure_ascii=False)
        case ast.Name(id="self"):
            return "this"
        case ast.Name(id=name):
            return name.removeprefix("__")
        case ast.Attribute(value=value, attr=name):
            return f"{expression(value)}.{name.removeprefix('__')}"
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            return f"{expression(value)}.length"
        case ast.Call(func=ast.Name(id="Among"), args=args):
            return among(args)
        case ast.Call(func=function, args=args):
            return f"{expression(function)}({', '.join(map(expression, args))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"!({expression(operand)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"-{expression(operand)}"
        case ast.BoolOp(op=ast.Or(), values=values):
            return " || ".join(f"({expression(value)})" for value in values)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return f"{expression(left)} {COMPARED[type(operator)]} {expression(right)}"
        case ast.BinOp(left=left, op=operator, right=right):
            return f"{expression(left)} {CALCULATED[type(operator)]} ({expression(right)})"
        case ast.Subscript(value=value, slice=place):
            return f"{expression(value)}[{expression(place)}]"
        case ast.Set(elts=items):
            return f"new Set({json.dumps(''.join(i.value for i in items), ensure_ascii=False)})"
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return f"[{','.join(map(expression, items))}]"
    raise ValueError(ast.dump(node))


def among(args):
    """Translate an entry of a table: [string, index of its longest suffix, result, condition]."""
    parts = [expression(arg) for arg in args[:3]]
    if len(args) == 4:
        parts.append(f"(s) => s.{args[3].id.removeprefix('__')}()")
    return f"[{','.join(parts)}]"


def statements(nodes):
    return "".join(map(statement, nodes))


def statement(node):
    """Translate a statement. An exception becomes a jump to the end of its try block."""
    match node:
        case ast.Expr(value=value):
            return f"{expression(value)};\n"
        case ast.Assign(targets=[target], value=value):
            return f"{expression(target)} = {expression(value)};\n"
        case ast.AugAssign(target=target, op=operator, value=value):
            return f"{expression(target)} {CALCULATED[type(operator)]}= {expression(value)};\n"
        case ast.If(test=test, body=body, orelse=rest):
            other = f" else {{\n{statements(rest)}}}" if rest else ""
            return f"if ({expression(test)}) {{\n{statements(body)}}}{other}\n"
        case ast.While(test=test, body=body):
            return f"while ({expression(test)}) {{\n{statements(body)}}}\n"
        case ast.For(target=ast.Name(id=name), iter=ast.Tuple(elts=turns), body=body):
            head = f"for (let {name} = 0; {name} < {len(turns)}; {name}++)"
            return f"{head} {{\n{statements(body)}}}\n"
        case ast.Try(body=body, handlers=[ast.ExceptHandler(type=ast.Name(id=label))]):
            return f"{label}: {{\n{statements(body)}}}\n"
        case ast.Raise(exc=ast.Call(func=ast.Name(id=label))):
            return f"break {label};\n"
        case ast.Return(value=value):
            return f"return {expression(value)};\n"
        case ast.Break():
            return "break;\n"
        case ast.Continue():
            return "continue;\n"
        case ast.Pass():
            return ""
    raise ValueError(ast.dump(node))


def method(node):
    names = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    kept = f"let {', '.join(sorted(names - {'_'}))};\n" if names - {"_"} else ""
    return f"{node.name.removeprefix('__')}() {{\n{kept}{statements(node.body)}}}\n"


def module(source):
    """Translate a stemmer's module."""
    (stemmer,) = (
        n
        for n in ast.parse(source).body
        if isinstance(n, ast.ClassDef) and n.bases[0].id == "BaseStemmer"
    )
    parts, fields = [], []
    for node in stemmer.body:
        if isinstance(node, ast.FunctionDef):
            parts.append(method(node))
        elif isinstance(node, ast.Assign):
            name = node.targets[0].id
            is_variable = name[0] in "BIS" and name[1] == "_"
            kept = fields if is_variable else parts
            kept.append(f"{'' if is_variable else 'static '}{name} = {expression(node.value)};\n")
    body = "".join([*fields, *parts])
    head = source.splitlines()[0].lstrip("# ")
    return (
        f"// {head}; BSD, see LICENSE\n"
        'import { Snowball } from "../snowball.js";\n'
        f"class {stemmer.name} extends Snowball {{\n{body}}}\n"
        f"export default {stemmer.name};\n"
    )


def index(names):
    """Return the module that imports each stemmer on demand, by a name that bundlers can read."""
    lines = [f'  {Path(name).stem}: () => import("./{name}"),\n' for name in sorted(names)]
    return f"export const STEMMERS = {{\n{''.join(lines)}}};\n"


def built():
    """Return {name: text} of all files."""
    with zipfile.ZipFile(archive(SNOWBALL)) as wheel:
        names = wheel.namelist()
        stemmers = [n for n in names if n.endswith("_stemmer.py")]
        (licence,) = (n for n in names if n.endswith("COPYING"))
        files = {
            Path(n).stem.removesuffix("_stemmer") + ".js": module(wheel.read(n).decode())
            for n in stemmers
        }
        files["index.js"] = index(files)
        return files | {"LICENSE": wheel.read(licence).decode()}
