// Asks ClickHouse the questions of docs/fleet.md, with the words that it has for those of DuckDB, and fails if one is not answered.
//   npm install chdb    (in a folder of its own; half a gigabyte)
//   NODE_PATH=THAT_FOLDER/node_modules node .ci/fleet/clickhouse.js FLEET    (what sosgo fleet add FLEET wrote)
const fs = require("fs"), path = require("path");
const { Session } = require("chdb");

const fleet = path.resolve(process.argv[2] ?? ".");
const doc = fs.readFileSync(path.join(__dirname, "../../docs/fleet.md"), "utf8");
const words = [
  [/read_parquet\('fleet\/([^']*)'[^)]*\)/g, (_, f) => `file('${fleet}/${f}', 'Parquet')`],
  [/any_value\(/g, "any("], [/(min_by|arg_min)\(/g, "argMin("], [/max_by\(/g, "argMax("], [/\blag\(/g, "lagInFrame("],
  [/string_agg\(DISTINCT (\w+), ' ' ORDER BY \w+\)/g, "arrayStringConcat(arraySort(groupUniqArray($1)), ' ')"], [/;\s*$/, ""],
];
const session = new Session();
const questions = [...doc.matchAll(/([^\n]*)\n\n```sql\n([\s\S]*?)```/g)];
if (questions.length === 0) throw new Error("docs/fleet.md has no questions");
for (const [, title, sql] of questions) {
  if (sql.includes("read_json")) continue; // of the log, and not of tables
  const query = words.reduce((q, [from, to]) => q.replace(from, to), sql);
  const rows = session.query(query + " SETTINGS use_hive_partitioning = 1", "JSONEachRow").split("\n").filter(Boolean);
  console.log(`${title} ${rows.length} rows`, rows.slice(0, 3));
}
