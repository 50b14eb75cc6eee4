"""What an engine does with an encrypted table that knows nothing of Sunzi: reads it, keeps some of it, writes it."""

import json
import sys

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(0)

source, key = sys.argv[1:]
table = pq.read_table(source)

# Columns and their types; the extension type with parameters and key in the metadata of its field.
assert table.column_names == ["sunzi.rows", "cost", "region", "age", "sex=f", "sex=m"], table.column_names
assert table.schema.field("cost").type == pa.list_(pa.field("item", pa.decimal128(18, 1), nullable=False)), table.schema
for name, column, label in [("age", "age", None), ("sex=f", "sex", "f"), ("sex=m", "sex", "m")]:
    field = table.schema.field(name)
    assert field.type == pa.binary(), field
    assert field.metadata[b"ARROW:extension:name"] == b"sunzi.ciphertext", field.metadata
    told = json.loads(field.metadata[b"ARROW:extension:metadata"])
    assert (told["version"], told["column"], told["label"], told["key"]) == (1, column, label, key), told
    assert len(told["ring"]) == len(told["scheme"]) == 16, told
whole = json.loads(table.schema.metadata[b"sunzi.table"])
assert (whole["partition"], whole["key"]) == ("region", key), whole
assert sum(table["sunzi.rows"].to_pylist()) == whole["schema"]["rows"]

# Rows that one label keeps, the last first, in groups of another size and with other types for the same cells.
south = table.filter(pc.field("region") != "north")
south = south.take(pa.array(range(south.num_rows - 1, -1, -1)))
pq.write_table(south, "south.parquet", row_group_size=3, compression="gzip")
wide = pa.schema([pa.field(f.name, pa.large_binary() if f.type == pa.binary() else f.type, metadata=f.metadata) for f in south.schema],
                 metadata=south.schema.metadata)
pq.write_table(south.cast(wide), "wide.parquet")
# Some columns only.
pq.write_table(table.select(["sunzi.rows", "age", "sex=m"]), "age.parquet")
# A folder for each label: the file has no such column any more.
ds.write_dataset(table, "parts", format="parquet", partitioning=["region"], partitioning_flavor="hive", basename_template="part-{i}.parquet")
# What is no table any more.
pq.write_table(table.replace_schema_metadata(None), "bare.parquet")
pq.write_table(table.filter(pc.field("region") == "nowhere"), "none.parquet")
pq.write_table(table.drop_columns(["sunzi.rows"]), "rowless.parquet")
print(f"pyarrow {pa.__version__}: {table.num_rows} chunks, {south.num_rows} kept")
