package schema

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/studies"
)

// yamlAny reads YAML as a schema validator sees it.
func yamlAny(t *testing.T, src []byte) any {
	t.Helper()
	js, err := yaml.YAMLToJSON(src)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, js)
}

// files are the studies that come with tare.
func files(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range studies.Names() {
		src, err := fs.ReadFile(studies.FS, name+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		all[name+".yaml"] = src
	}
	calibration, err := filepath.Glob(docs("calibration", "*.yaml"))
	if err != nil || len(calibration) == 0 {
		t.Fatalf("no calibration studies (%v)", err)
	}
	for _, path := range calibration {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = src
	}
	return all
}

func TestStudiesAreValid(t *testing.T) {
	s := compile(t, "study.schema.json")
	for name, src := range files(t) {
		if err := s.Validate(yamlAny(t, src)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := studyfile.Parse(name, src); err != nil {
			t.Error(err)
		}
	}
}

const study = `study: x
question: y?
kinds: [codec]
baseline: a
contenders: [a, {id: b, use: c}, {id: d, program: ./d}, {use: e, expect: {void: [identity]}}, {id: f, use: c, with: example.com/c@v1.2.3, go: go1.25.5}]
workloads:
  - {id: w/m, fixture: f, n: 1, op: marshal, pool: 1}
  - {id: v, file: p.json, op: marshal, heap: 200MB}
metrics: [time]
criteria:
  - {contender: b, workload: w/m, metric: time, ratio: "<= 0.5"}
  - {metric: time, equivalent: 3%}
  - {metric: time, value: ">= 5ms"}
claims:
  - {id: "1", source: s, kind: ratio, contender: b, workload: v, metric: time, baseline: 2, value: 1.5, unit: ns/op, side: lower, statement: s}
  - {id: "2", source: s, kind: statement, contender: b, check: wrong-answer, statement: t}
budget: {quick: 40s, full: 1h5m}
`

const served = `study: x
kinds: [server]
baseline: a
contenders:
  - a
  - {id: b, use: c, set: {log: pty, n: 3, share: 2.5, http2: true, empty: ""}}
  - {id: d, command: ['./srv', '$PORT']}
  - {id: e, url: 'http://127.0.0.1:8080/v1'}
  - {id: g, command: [fluentd, $DIR/f.conf], requires: fluentd, path: /in, delivers: $DIR/out*.log, answers: status, files: {f.conf: 'a: $PORT'}}
workloads:
  - {id: w, fixture: f, op: get, connections: 50, set: {depth: 3}}
  - {id: v, fixture: f, op: get, connections: 50, rate: 1500/s, segment: 5s, tls: true, delay: 20ms, bandwidth: 70mbit}
  - {id: u, fixture: f, op: get}
  - {id: t, fixture: f, op: get}
  - {id: s, fixture: f, op: stop, connections: 50, segment: 5s, contenders: [b, g]}
metrics: [cpu, time, p50, p90, p99, p99.9, max, client-cpu, stop, rss]
criteria:
  - {workload: w, metric: cpu, difference: "<= 5%", of: u}
claims:
  - {id: "1", kind: count, contender: b, value: 30, unit: modules, statement: s}
  - {id: "2", kind: trend, contender: b, workloads: [w, u, t], metric: time, side: lower, statement: s}
  - {id: "2/g", kind: growth, contender: b, workloads: [w, u, t], metric: time, value: 0, statement: s}
  - {id: "2/r", kind: rate, contender: b, workloads: [w], value: 10, statement: s}
  - {id: "2/o", kind: ratio, contender: b, workload: w, metric: cpu, of: {workload: u, metric: time}, baseline: 1, value: 6, statement: s}
  - {id: "2/s", kind: ratio, contender: b, workload: w, metric: cpu, side: higher, statement: s}
  - {id: "3", kind: share, contender: g, workload: w, metric: cpu, value: 0.5, statement: half}
  - {id: "3/c", kind: cause, contender: b, decomposition: x, causes: [b], statement: all}
  - {id: "4", kind: reported, value: 407, unit: requests/s, because: gone, statement: other}
decompose:
  - {id: x, question: y?, workload: w, metric: cpu, from: a, steps: [{to: b, cause: c}, {to: d, cause: e}]}
`

// The published schema and the parser take the same files and refuse the same
// ones. (What only the parser can know, such as whether a name is listed, is
// not tried here.)
func TestSchemaAndParserAgree(t *testing.T) {
	s := compile(t, "study.schema.json")
	try := func(src string, good bool) {
		t.Helper()
		_, perr := studyfile.Parse("x.yaml", []byte(src))
		serr := s.Validate(yamlAny(t, []byte(src)))
		if (perr == nil) != good || (serr == nil) != good {
			t.Errorf("wanted good %v\n%s\nparser: %v\nschema: %v", good, src, perr, serr)
		}
	}
	try(study, true)
	for _, c := range [][2]string{
		{"kinds: [codec]", "kinds: codec"}, {"kinds: [codec]", "kind: codec"},
		{"metrics: [time]", "metrics: time"},
		{"[identity]", "identity"},
		{"question: y?\n", ""},
		{", n: 1", ""},
		{", pool: 1", ""},
		{", unit: ns/op, side: lower", ""},
		{"  - {metric: time, equivalent: 3%}\n", ""},
		{"budget: {quick: 40s, full: 1h5m}\n", ""},
		{"full: 1h5m", "full: 1.5s"},
		{"budget: {quick: 40s, full: 1h5m}", "budget: {}"},
		{"with: example.com/c@v1.2.3", "with: [example.com/c=../c, example.com/d@v2.0.0-20260101000000-abcdefabcdef]"},
		{"with: example.com/c@v1.2.3", "with: []"}, {"with: example.com/c@v1.2.3", "with:"}, {", go: go1.25.5", ""}, {"go: go1.25.5", "go: 1.25.5"}, {"go: go1.25.5", "go: go1.27rc1"},
		{"heap: 200MB", "heap: 1048576"}, {"heap: 200MB", "heap: 0.5 GiB"}, {"heap: 200MB", "heap: 800000000"}, {"heap: 200MB", "heap: 0"},
		{"contender: b, check", "contender: b, workload: v, metric: time, check"},
	} {
		try(strings.Replace(study, c[0], c[1], 1), true)
	}
	for _, c := range [][2]string{
		{"study: x\n", ""}, {"study: x", "study: ../x"}, {"study: x", "study: 1"}, {"kinds: [codec]", "kinds: []"}, {"kinds: [codec]", "kinds: [codec, server]"}, {"kinds: [codec]", "kind: [codec, server]"}, {"kinds: [codec]\n", ""},
		{"baseline: a\n", ""}, {"baseline: a", "baseline: [a]"}, {"[a, {", "[1, {"}, {"id: b, use: c", "id: b c"}, {"id: b, use: c", "unknown: c"},
		{"id: b, use: c", "id: b, url: c"}, {"id: d, program: ./d", "id: d, use: x, program: ./d"}, {"id: d, program: ./d", "program: ./d"},
		{"void: [identity]", "void: []"}, {"{void: [identity]}", "identity"}, {"{void: [identity]}", "{}"},
		{"fixture: f, ", ""}, {"fixture: f", "fixture: f, file: g"}, {"n: 1", "n: -1"}, {"n: 1", "n: 1.5"}, {"n: 1", "n: one"}, {"pool: 1", "pool: -1"},
		{"op: marshal, pool", "pool"}, {"id: w/m, f", "id: w//m, f"}, {"metrics: [time]", "metrics: [speed]"}, {"metrics: [time]", "metrics: []"}, {"metrics: [time]", "metrics:"},
		{`ratio: "<= 0.5"`, "ratio: 0.5"}, {`ratio: "<= 0.5"`, `ratio: "= 0.5"`}, {`ratio: "<= 0.5"`, `difference: "<= 0.5"`}, {`, ratio: "<= 0.5"`, ""}, {"equivalent: 3%", "equivalent: 3"},
		{"equivalent: 3%", `equivalent: 3%, value: "<= 1"`}, {`value: ">= 5ms"`, `value: 5ms`},
		{"kind: ratio", "kind: rank"}, {"baseline: 2", "baseline: 0"}, {"baseline: 2", "baseline: two"}, {"side: lower", "side: left"}, {", statement: s", ""},
		{"quick: 40s", "quick: 40"}, {"quick: 40s", "quick: -40s"}, {"quick: 40s", "quick: soon"}, {"quick: 40s", "fast: 40s"}, {"budget: {quick: 40s, full: 1h5m}", "budget: 40s"},
		{"with: example.com/c@v1.2.3", "with: example.com/c"}, {"with: example.com/c@v1.2.3", "with: example.com/c@"}, {"with: example.com/c@v1.2.3", "with: [1]"}, {"with: example.com/c@v1.2.3", "with: a b@v1"},
		{"with: example.com/c@v1.2.3", "with: 'example.com/c= '"}, {"go: go1.25.5", "go: go1.25"}, {"go: go1.25.5", "go: 1.25"}, {"go: go1.25.5", "go: [go1.25.5]"}, {"go: go1.25.5", "go: latest"},
		{"heap: 200MB", "heap: 200mb"}, {"heap: 200MB", "heap: -1"}, {"heap: 200MB", "heap: 1.5"}, {"heap: 200MB", "heap: 800000001"}, {"heap: 200MB", "heap: '200'"}, {"heap: 200MB", "heap:"},
		{"check: wrong-answer, ", ""}, {"check: wrong-answer", "check: 1"}, {"check: wrong-answer", "check: wrong-answer, value: 1"}, {"check: wrong-answer", "check: wrong-answer, baseline: 1"},
		{"check: wrong-answer", "check: wrong-answer, unit: ns/op"}, {"check: wrong-answer", "check: wrong-answer, side: lower"}, {"side: lower", "check: wrong-answer"}, {"kind: statement, contender: b", "kind: statement"},
		{"budget:", "factors: {}\nbudget:"}, {"budget:", "extra: 1\nbudget:"},
	} {
		src := strings.Replace(study, c[0], c[1], 1)
		if src == study {
			t.Fatalf("%q is not in the study", c[0])
		}
		try(src, false)
	}
	try(served, true)
	change := func(old, with string, good bool) {
		t.Helper()
		src := strings.Replace(served, old, with, 1)
		if src == served {
			t.Fatalf("%q is not in the study", old)
		}
		try(src, good)
	}
	for _, c := range [][2]string{
		{"log: pty, n: 3, share: 2.5, http2: true, empty: \"\"", ""}, {", set: {depth: 3}", ""},
		{"'./srv', ", "'./srv', '', "}, {"http://127.0.0.1:8080/v1", "https://[::1]"}, {"http://127.0.0.1:8080/v1", "HTTP://Example.com/"},
		{"rate: 1500/s", "rate: 0.5"}, {"rate: 1500/s", "rate: 2.5 / s"}, {"rate: 1500/s, ", ""}, {"tls: true", "tls: false"},
		{"70mbit", "1"}, {"70mbit", "1.5 gbit"}, {", delay: 20ms, bandwidth: 70mbit", ""}, {"connections: 50", "connections: 10000"},
		{", unit: modules", ""}, {"w, u, t", "t, u, w"}, {"question: y?, ", ""}, {"metric: cpu, from", "from"},
		{"[{to: b, cause: c}, {to: d, cause: e}]", "{to: b, cause: c}"}, {"workload: w, metric: cpu, diff", "metric: cpu, diff"},
		{"requires: fluentd", "requires: [ruby, fluentd]"}, {"requires: fluentd", "requires:"}, {"requires: fluentd, ", ""}, {"files: {f.conf: 'a: $PORT'}", "files: {}"}, {"path: /in", "path: /in/side"}, {"url: ", "answers: status, url: "}, {", answers: status", ""},
		{"value: 407, unit: requests/s, ", ""}, {"kind: reported", "kind: reported, contender: b"},
		{"contenders: [b, g]", "contenders: b"}, {"contenders: [b, g]", "contenders: []"}, {"contenders: [b, g]", "contenders:"}, {", contenders: [b, g]", ""},
	} {
		change(c[0], c[1], true)
	}
	for _, c := range [][2]string{
		{"command: ['./srv', '$PORT']", "command: ./srv"}, {"command: ['./srv', '$PORT']", "command: []"}, {"'./srv', ", "'', "}, {"'$PORT'", "8080"},
		{"command: [", "use: c, command: ["}, {"command: [", "program: c, command: ["}, {"url: ", "use: c, url: "}, {"url: ", "program: c, url: "}, {"url: ", "command: [c], url: "},
		{"url: ", "go: go1.25.5, url: "}, {"url: ", "with: [], url: "}, {"command: ", "go: go1.25.5, command: "}, {"command: ", "with: a@v1, command: "}, {"id: d, c", "c"},
		{"http://127.0.0.1:8080/v1", "127.0.0.1:8080"}, {"http://127.0.0.1:8080/v1", "ftp://a"}, {"http://127.0.0.1:8080/v1", "http://"}, {"http://127.0.0.1:8080/v1", "http://a?b"}, {"http://127.0.0.1:8080/v1", "http://a:b@c"},
		{"log: pty", "log: [pty]"}, {"log: pty", "log: {a: b}"}, {"log: pty", "log: ~"}, {"log: pty", "'a b': pty"}, {"log: pty", "2: pty"}, {"set: {depth: 3}", "set: 3"}, {"set: {depth: 3}", "set: [depth]"},
		{"connections: 50, rate", "rate"}, {"connections: 50, rate: 1500/s, segment: 5s, ", ""}, {"op: get}", "op: get, segment: 5s}"}, {"op: get}", "op: get, delay: 5s}"}, {"op: get}", "op: get, bandwidth: 1}"},
		{", segment: 5s", ""}, {"connections: 50", "connections: 0"}, {"connections: 50", "connections: 10001"}, {"connections: 50", "connections: 5.5"}, {"connections: 50", "connections: '50'"},
		{"1500/s", "1500/m"}, {"1500/s", "0"}, {"1500/s", "-1"}, {"1500/s", "1e9"}, {"1500/s", "10000001"}, {"1500/s", "fast"}, {"5s", "5"}, {"tls: true", "tls: 'true'"}, {"tls: true", "tls: 1"}, {"20ms", "20"},
		{"70mbit", "70Mbit"}, {"70mbit", "0"}, {"70mbit", "1.5"}, {"70mbit", "1000000000001"}, {"70mbit", "true"},
		{`, of: u`, ""}, {`difference: "<= 5%", of`, "of"}, {`difference: "<= 5%", of`, `ratio: "<= 5", of`}, {`"<= 5%"`, `">= 5%"`}, {`"<= 5%"`, `"<= 5"`}, {`"<= 5%"`, `5%`},
		{"value: 30, ", ""}, {"value: 30", "value: 0"}, {"value: 30", "value: 30, baseline: 1"}, {"value: 30", "value: 30, workload: w"}, {"value: 30", "value: 30, workloads: [w]"}, {"value: 30", "value: 30, metric: cpu"}, {"value: 30", "value: 30, side: lower"}, {"value: 30", "value: 30, check: identity"},
		{"[w, u, t]", "[w, u]"}, {"[w, u, t]", "[w, u, w]"}, {"[w, u, t]", "w"}, {"workloads: [w, u, t], ", ""}, {", metric: time, side", ", side"}, {", side: lower", ""}, {"side: lower", "side: lower, value: 1"}, {"side: lower", "side: lower, baseline: 1"}, {"side: lower", "side: lower, unit: ns"}, {"side: lower", "side: lower, workload: w"}, {"side: lower", "side: lower, check: identity"}, {"kind: trend", "kind: exponent"},
		{"{id: x, question", "{question"}, {"workload: w, metric: cpu, from", "metric: cpu, from"}, {"from: a, ", ""}, {"[{to: b, cause: c}, {to: d, cause: e}]", "[]"}, {"to: b, ", ""}, {", cause: c}", "}"}, {"cause: c", "cause: ''"}, {"cause: c", "cause: 1"}, {"cause: c", "cause: c, share: 1"}, {"metric: cpu, from", "metric: speed, from"},
		{"requires: fluentd", "requires: [a, a]"}, {"requires: fluentd", "requires: /bin/a"}, {"requires: fluentd", "requires: 1"}, {"requires: fluentd", "requires: ''"}, {"requires: fluentd", "requires: {a: b}"},
		{"{f.conf: 'a: $PORT'}", "{f.conf: 1}"}, {"{f.conf: 'a: $PORT'}", "{a/f.conf: b}"}, {"{f.conf: 'a: $PORT'}", "{.f: b}"}, {"{f.conf: 'a: $PORT'}", "[a]"}, {"{f.conf: 'a: $PORT'}", "~"},
		{"path: /in", "path: in"}, {"path: /in", "path: /in/"}, {"path: /in", "path: /"}, {"path: /in", "path: /a?b"}, {"delivers: $DIR/out*.log", "delivers: ''"}, {"delivers: $DIR/out*.log", "delivers: [a]"}, {"answers: status", "answers: whole"}, {"answers: status", "answers:"},
		{"url: ", "requires: a, url: "}, {"url: ", "files: {a: b}, url: "}, {"url: ", "path: /a, url: "}, {"url: ", "delivers: a, url: "}, {"use: c, set", "use: c, path: /a, set"},
		{"contenders: [b, g]", "contenders: [b, b]"}, {"contenders: [b, g]", "contenders: [1]"}, {"contenders: [b, g]", "contenders: {b: g}"},
		{"value: 10, statement", "statement"}, {"kind: rate, contender: b, workloads: [w]", "kind: rate, contender: b, workload: w"}, {"of: {workload: u, metric: time}", "of: {workload: u}"}, {"side: higher, ", ""}, {"side: higher", "side: higher, value: 2"},
		{"value: 0.5, ", ""}, {"value: 0.5", "value: 1"}, {"value: 0.5", "value: 0.5, baseline: 1"}, {"value: 0.5", "value: 0.5, side: lower"}, {"value: 0.5", "value: 0.5, check: identity"}, {"value: 0.5", "value: 0.5, because: a"}, {"kind: share, contender: g", "kind: share"}, {"kind: share, contender: g, workload: w", "kind: share, contender: g, workloads: [w, u, t]"},
		{"decomposition: x, ", ""}, {", causes: [b]", ""}, {"causes: [b]", "causes: []"}, {"causes: [b]", "causes: [b, b]"}, {"causes: [b]", "causes: [b], workload: w"}, {"causes: [b]", "causes: [b], value: 1"},
		{"causes: [b]", "causes: [b], check: identity"}, {"causes: [b]", "causes: [b], because: a"}, {"value: 0.5", "value: 0.5, decomposition: x"}, {"value: 0.5", "value: 0.5, causes: [b]"}, {"side: lower", "side: lower, decomposition: x"},
		{"because: gone, ", ""}, {"because: gone", "because: ''"}, {"because: gone", "because: gone, workload: w"}, {"because: gone", "because: gone, check: identity"}, {"value: 407", "value: 0"}, {"value: 407", "value: 407, baseline: 3"}, {"side: lower, statement", "side: lower, because: a, statement"},
	} {
		change(c[0], c[1], false)
	}
	for _, c := range [][2]string{ // claims of the older kinds
		{"side: lower", "side: lower, workloads: [w]"}, {"check: wrong-answer", "check: wrong-answer, workloads: [w]"},
	} {
		try(strings.Replace(study, c[0], c[1], 1), false)
	}
}

// The parser's keys are the schema's: an unknown key makes it list them.
func TestSchemaHasTheParsersKeys(t *testing.T) {
	root := decode(t, read(t, "study.schema.json")).(map[string]any)
	defs := root["$defs"].(map[string]any)
	object := func(v any) map[string]any { return v.(map[string]any) }
	for where, c := range map[string]struct {
		src  string
		node map[string]any
	}{
		"study":     {"qqqqqq: 1", root},
		"contender": {"contenders: [{qqqqqq: 1}]", object(object(defs["entry"])["anyOf"].([]any)[1])},
		"expect":    {"contenders: [{expect: {qqqqqq: 1}}]", object(defs["expect"])},
		"workload":  {"workloads: [{qqqqqq: 1}]", object(defs["workload"])},
		"criterion": {"criteria: [{qqqqqq: 1}]", object(defs["criterion"])},
		"source":    {"sources: [{qqqqqq: 1}]", object(defs["source"])},
		"shown":     {"claims: [{shown: [{qqqqqq: 1}]}]", object(defs["shown"])},
		"claim":     {"claims: [{qqqqqq: 1}]", object(defs["claim"])},
		"decompose": {"decompose: [{qqqqqq: 1}]", object(defs["decompose"])},
		"step":      {"decompose: [{steps: [{qqqqqq: 1}]}]", object(defs["step"])},
		"budget":    {"budget: {qqqqqq: 1}", object(object(root["properties"])["budget"])},
	} {
		_, err := studyfile.Parse("x.yaml", []byte(c.src))
		if err == nil {
			t.Fatalf("%s: an unknown key is accepted", where)
		}
		_, known, _ := strings.Cut(err.Error(), "known: ")
		keys := slices.Sorted(maps.Keys(object(c.node["properties"])))
		if got := strings.Split(known, ", "); !slices.Equal(got, keys) {
			t.Errorf("%s: the parser knows %q, the schema %q", where, got, keys)
		}
		for name, p := range object(c.node["properties"]) {
			if d, _ := object(p)["description"].(string); d == "" {
				t.Errorf("%s.%s has no description", where, name)
			}
		}
		if c.node["additionalProperties"] != false {
			t.Errorf("%s: the schema lets unknown keys pass", where)
		}
	}
}
