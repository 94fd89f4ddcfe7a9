"""Reads tables in Parquet with DuckDB.

DIRECTORY TABLE...: prints of every column how many rows have a value, and the sum of numbers, as JSON.
PAGE: prints the page with the output of its queries.
"""

import json
import re
import sys

import duckdb


def columns(directory, table):
    rows = f"read_parquet('{directory}/{table}/**/*.parquet', hive_partitioning = true)"
    found = {"*": [duckdb.sql(f"SELECT count(*) FROM {rows}").fetchall()[0][0], None]}
    for name, kind, *_ in duckdb.sql(f"DESCRIBE FROM {rows}").fetchall():
        total = f'CAST(sum("{name}") AS VARCHAR)' if kind.endswith(("INT", "INTEGER")) else "NULL"
        found[name] = duckdb.sql(f'SELECT count("{name}"), {total} FROM {rows}').fetchall()[0]
    links = f"SELECT DISTINCT link FROM {rows} ORDER BY link"
    links = duckdb.sql(links).fetchall() if "link" in found else []
    return {"columns": found, "links": [link for (link,) in links]}


def with_output(query):
    rows = duckdb.sql(query[1])
    if rows is None or query[1].startswith("CREATE"):
        return query[0]
    values = [["-" if value is None else str(value) for value in row] for row in rows.fetchall()]
    lines = [rows.columns, *values]
    widths = [max(len(line[at]) for line in lines) for at in range(len(rows.columns))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines]
    return f"```sql\n{query[1]}```\n\n```text\n" + "\n".join(lines) + "\n```\n"


if sys.argv[2:]:
    print(json.dumps({table: columns(sys.argv[1], table) for table in sys.argv[2:]}))
else:
    with open(sys.argv[1], encoding="utf-8") as page:
        page = page.read()
    print(re.sub(r"```sql\n(.*?)```\n(?:\n```text\n.*?```\n)?", with_output, page, flags=re.DOTALL), end="")
