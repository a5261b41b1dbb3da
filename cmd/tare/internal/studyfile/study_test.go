package studyfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

const whole = `# a comment
study: json-encode
question: Is jsoniter 2–3× as fast?
kinds: [codec]
baseline: encoding-json
contenders:
  - encoding-json
  - {id: fast, use: jsoniter-fastest}
  - {id: mine, program: ./cmd/mycodec}
  - {use: jsoniter-stream-unflushed, expect: {void: wrong-answer}}
  - use: ffjson-ungenerated
    expect:
      void: [identity, wrong-answer]
  - {id: sonic-1.14, use: sonic-default, with: github.com/bytedance/sonic@v1.14.0, go: 1.25.5}
  - {id: mine-next, program: ./cmd/mycodec, with: [example.com/a@v2.0.0-rc.1+incompatible, example.com/b=../b], go: go1.27rc1}
workloads:
  - {id: devices-50/marshal, fixture: devices, n: 50, op: marshal}
  - {id: mine/marshal, file: payload.json, op: marshal, pool: 1}
  - {id: devices-50/heap, fixture: devices, n: 50, op: marshal, heap: 200MB}
metrics: [time, cpu]
criteria:
  - {contender: fast, metric: time, ratio: "<= 0.5"}
  - {metric: cpu, workload: mine/marshal, equivalent: 3%}
  - {metric: time, value: "<= 50ms"}
claims:
  - {id: F0.9, source: "somebody, 2026", kind: ratio, contender: fast, workload: devices-50/marshal, metric: time, baseline: 91882, value: 45478.5, unit: ns/op, side: lower, statement: "2.02x faster"}
  - {id: F0.19, source: "somebody, 2026", kind: statement, contender: fast, workload: devices-50/marshal, check: wrong-answer, statement: works identically}
budget: {quick: 40s, full: 5m}
`

func TestWholeStudy(t *testing.T) {
	got, err := Parse("dir/s.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := tare.Study{
		ID: "json-encode", Question: "Is jsoniter 2–3× as fast?", Kind: "codec", Baseline: "encoding-json", Dir: "dir",
		Contenders: []tare.Entry{
			{ID: "encoding-json"},
			{ID: "fast", Use: "jsoniter-fastest"},
			{ID: "mine", Program: "./cmd/mycodec"},
			{ID: "jsoniter-stream-unflushed", Expect: tare.Expect{Void: []string{"wrong-answer"}}},
			{ID: "ffjson-ungenerated", Expect: tare.Expect{Void: []string{"identity", "wrong-answer"}}},
			{ID: "sonic-1.14", Use: "sonic-default", With: []string{"github.com/bytedance/sonic@v1.14.0"}, Go: "go1.25.5"},
			{ID: "mine-next", Program: "./cmd/mycodec", With: []string{"example.com/a@v2.0.0-rc.1+incompatible", "example.com/b=../b"}, Go: "go1.27rc1"},
		},
		Workloads: []tare.Workload{
			{ID: "devices-50/marshal", Fixture: "devices", N: 50, Op: "marshal"},
			{ID: "mine/marshal", File: "payload.json", Op: "marshal", Pool: 1},
			{ID: "devices-50/heap", Fixture: "devices", N: 50, Op: "marshal", Heap: 200e6},
		},
		Metrics: []string{"time", "cpu"},
		Criteria: []tare.Criterion{
			{Contender: "fast", Metric: "time", Ratio: "<= 0.5"},
			{Workload: "mine/marshal", Metric: "cpu", Equivalent: "3%"},
			{Metric: "time", Value: "<= 50ms"},
		},
		Claims: []tare.Claim{
			{ID: "F0.9", Source: "somebody, 2026", Kind: tare.ClaimRatio, Contender: "fast", Workload: "devices-50/marshal",
				Metric: "time", Baseline: 91882, Value: 45478.5, Unit: "ns/op", Side: "lower", Statement: "2.02x faster"},
			{ID: "F0.19", Source: "somebody, 2026", Kind: tare.ClaimStatement, Contender: "fast", Workload: "devices-50/marshal",
				Check: "wrong-answer", Statement: "works identically"},
		},
		Budget: tare.Budget{Quick: 40 * time.Second, Full: 5 * time.Minute},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	for _, src := range []string{"\ufeff" + whole, strings.ReplaceAll(whole, "\n", "\r\n"), "---\n" + whole + "...\n"} {
		if again, err := Parse("dir/s.yaml", []byte(src)); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%.20q…: %v %+v", src, err, again)
		}
	}
}

// A list may be written as its only item.
func TestSingleItems(t *testing.T) {
	src := strings.NewReplacer("kinds: [codec]", "kinds: codec", "metrics: [time, cpu]", "metrics: time", "metric: cpu", "metric: time").Replace(whole)
	got, err := Parse("s.yaml", []byte(src))
	if err != nil || got.Kind != "codec" || !reflect.DeepEqual(got.Metrics, []string{"time"}) {
		t.Errorf("%v %+v", err, got)
	}
}

// Each case replaces one text of the whole study and says what comes of it.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		// unknown and later keys
		{"metrics: [", "metric: [", `s.yaml:20:1: unknown key "metric"; did you mean metrics?`},
		{"use: jsoniter-fastest", "uses: jsoniter-fastest", `s.yaml:8:16: unknown key "uses"; did you mean use?`},
		{"op: marshal}", "operation: marshal}", `s.yaml:17:55: unknown key "operation"; known: bandwidth, connections, contenders, delay, file, fixture, heap, id, n, op, pool, rate, segment, set, tls`},
		{"budget: {quick", "budget: {quik", `s.yaml:28:10: unknown key "quik"; did you mean quick?`},
		{"void: wrong-answer}", "viod: wrong-answer}", `s.yaml:10:47: unknown key "viod"; did you mean void?`},
		{"kinds: [codec]", "kinds: [codec]\nfactors: {}", `s.yaml:5:1: "factors" is not supported yet; list a contender once per level and give each its set, e.g. {id: gin-pty, use: gin-new, set: {log: pty}}`},
		{"kinds:", "7:", "s.yaml:4:1: a key of this file is a plain word; known: answer, baseline, "},
		// wrong types
		{"study: json-encode", "study: 7", `s.yaml:2:8: study is a number, not text; put it in quotes: "7"`},
		{"study: json-encode", "study: [a]", "s.yaml:2:8: study is a list, not text"},
		{"study: json-encode", "study:", "s.yaml:2:7: study is empty, not text"},
		{"study: json-encode", "study: ../../etc", `s.yaml:2:8: "../../etc" cannot be a name; a study's name is letters`},
		{"study: json-encode", "study: a/b", `s.yaml:2:8: "a/b" cannot be a name`},
		{"question: Is", "question: {a: b} # Is", "s.yaml:3:11: question is a mapping, not text"},
		{"kinds: [codec]", "kinds: [[codec]]", "s.yaml:4:9: kinds[0] is a list, not text; e.g. kind: codec"},
		{"baseline: encoding-json", "baseline: true", `s.yaml:5:11: baseline is true or false, not text; put it in quotes: "true"`},
		{"  - encoding-json", "  - 12", "s.yaml:7:5: contenders[0] is a number, not a mapping; write an id, or"},
		{"  - encoding-json", "  - a b", `s.yaml:7:5: "a b" cannot be a name; an id is`},
		{"id: fast, use", "id: '../x', use", `s.yaml:8:10: "../x" cannot be a name`},
		{"n: 50", "n: fifty", "s.yaml:17:51: workloads[0].n is text, not an integer; e.g. 50"},
		{"n: 50", "n: 5.5", "s.yaml:17:51: workloads[0].n is a number, not an integer"},
		{"n: 50", "n: 99999999999", "s.yaml:17:51: workloads[0].n is 99999999999, which is out of range"},
		{"n: 50", "n: -50", "s.yaml:17:51: n is negative; give the number of items"},
		{`"<= 0.5"`, "0.5", `s.yaml:22:44: criteria[0].ratio is a number, not text; a comparison in quotes, e.g. "<= 0.5"`},
		{"equivalent: 3%", "equivalent: 3", "s.yaml:23:55: criteria[1].equivalent is a number, not text; a percentage with its sign, e.g. 3%"},
		{"quick: 40s", "quick: 40", "s.yaml:28:17: budget.quick is a number, not a duration; with its unit, e.g. 40s or 5m"},
		{"quick: 40s", "quick: soon", `s.yaml:28:17: "soon" is not a duration above zero; e.g. 40s or 5m`},
		{"quick: 40s", "quick: -1s", `s.yaml:28:17: "-1s" is not a duration above zero`},
		{"budget: {quick: 40s, full: 5m}", "budget: 40s", "s.yaml:28:9: budget is text, not a mapping; e.g. budget: {quick: 40s, full: 5m}"},
		{"baseline: 91882", "baseline: 91.9us", "s.yaml:26:126: claims[0].baseline is text, not a number; write it without unit and quotes, e.g. 91882"},
		{"baseline: 91882", "baseline: .inf", "s.yaml:26:126: claims[0].baseline is not a finite number"},
		{"expect: {void: wrong-answer}", "expect: wrong-answer", "s.yaml:10:46: contenders[3].expect is text, not a mapping; e.g. expect: {void: wrong-answer}"},
		{"expect: {void: wrong-answer}", "expect: {}", "s.yaml:10:46: expect without a check; e.g. expect: {void: wrong-answer}"},
		{"void: wrong-answer}", "void: wrong-anwser}", `s.yaml:10:53: unknown check "wrong-anwser"; did you mean wrong-answer?`},
		{"void: wrong-answer}", "void: bimodal}", `s.yaml:10:53: the check "bimodal" never voids a contender; name one that does, e.g. wrong-answer; tare list checks shows them`},
		{"void: wrong-answer}", "void: [wrong-answer, control]}", `s.yaml:10:68: the check "control" never voids a contender`},
		{"program: ./cmd/mycodec", "use: a, program: ./b", "s.yaml:9:33: a contender with both use and program; keep one: use names a contender in the catalog, program a directory with your own, command "},
		// modules, toolchains, amounts of memory
		{"with: github.com/bytedance/sonic@v1.14.0", "with: github.com/bytedance/sonic", `s.yaml:14:48: "github.com/bytedance/sonic" is neither module@version nor module=./dir, e.g. github.com/bytedance/sonic@v1.14.0`},
		{"with: github.com/bytedance/sonic@v1.14.0", "with: '@v1.14.0'", `s.yaml:14:48: "@v1.14.0" is neither module@version nor module=./dir`},
		{"with: github.com/bytedance/sonic@v1.14.0", "with: a@v1 b@v2", `s.yaml:14:48: "a@v1 b@v2" is neither module@version nor module=./dir`},
		{"with: github.com/bytedance/sonic@v1.14.0", "with: a/b=", `s.yaml:14:48: "a/b=" is neither module@version nor module=./dir`},
		{"with: github.com/bytedance/sonic@v1.14.0", "with: 1.14", "s.yaml:14:48: contenders[5].with[0] is a number, not text; module@version or"},
		{"example.com/b=../b", "example.com/a=../b", "s.yaml:15:92: module example.com/a is listed twice; build with one version"},
		{"go: 1.25.5", "go: 1.25", "s.yaml:14:88: contenders[5].go is a number, not text; a Go release with all its numbers, e.g. go1.25.5"},
		{"go: 1.25.5", "go: go1.25", `s.yaml:14:88: "go1.25" is not a Go release; a Go release with all its numbers, e.g. go1.25.5`},
		{"go: 1.25.5", "go: latest", `s.yaml:14:88: "latest" is not a Go release`},
		{"go: 1.25.5", "go: [go1.25.5, go1.26.0]", "s.yaml:14:88: contenders[5].go is a list, not text"},
		{"heap: 200MB", "heap: 200mb", `s.yaml:19:71: "200mb" is not a number of bytes; a number with kB, MB, GB, KiB, MiB or GiB, e.g. 200MB; without a unit bytes`},
		{"heap: 200MB", "heap: lots", `s.yaml:19:71: "lots" is not a number of bytes`},
		{"heap: 200MB", "heap: 2GB", "s.yaml:19:71: workloads[2].heap is not between 0 and 800 MB; e.g. 200MB"},
		{"heap: 200MB", "heap: -1", "s.yaml:19:71: workloads[2].heap is not between 0 and 800 MB"},
		{"heap: 200MB", "heap: 1.5", "s.yaml:19:71: workloads[2].heap is a number, not an integer number of bytes or a text with its unit; e.g. heap: 200MB"},
		{"heap: 200MB", "heap: [1]", "s.yaml:19:71: workloads[2].heap is a list, not an integer number of bytes"},
		// claims
		{"check: wrong-answer, ", "", "s.yaml:27:5: claims[1].check: a statement without the check that answers it; e.g. check: "},
		{"check: wrong-answer", "check: wrong-anwser", `s.yaml:27:114: unknown check "wrong-anwser"; did you mean wrong-answer?`},
		{"check: wrong-answer", "check: xyzzy", `s.yaml:27:114: unknown check "xyzzy"; tare list checks shows them`},
		{"check: wrong-answer", "check: wrong-answer, baseline: 2", "s.yaml:27:138: a statement has no figures; leave baseline out, or write kind: ratio"},
		{"side: lower", "check: wrong-answer", "s.yaml:26:169: a ratio claim is answered by its figures, not by a check; leave check out, or write kind: statement"},
		// what the nouns refuse, at its place
		{"study: json-encode", "# no name", "s.yaml:1:1: study: missing; give the study a name"},
		{"metrics: [time, cpu]", "metrics:", "s.yaml:20:1: missing; list at least one metric"},
		{"metrics: [time, cpu]", "metrics: [time, speed]", `s.yaml:20:17: unknown metric "speed"; known: time, cpu`},
		{"baseline: encoding-json", "baseline: other", `s.yaml:5:11: baseline "other" is not among the contenders; name one`},
		{"{id: fast, use: jsoniter-fastest}", "encoding-json", `s.yaml:8:5: contender "encoding-json" is listed twice`},
		{"{id: fast, use: jsoniter-fastest}", "control", `s.yaml:8:5: "control" is reserved`},
		{"{id: fast, use: jsoniter-fastest}", "{}", "s.yaml:8:5: contender without an id; write an id, or {id: …, use: …}"},
		{"op: marshal}", "n: 1}", `s.yaml:17:55: mapping key "n" already defined at [17:48]`},
		{", op: marshal}", "}", `s.yaml:17:5: workload "devices-50/marshal" has no op; e.g. op: marshal`},
		{"fixture: devices, ", "", "s.yaml:17:5: workload \"devices-50/marshal\" has neither fixture nor file"},
		{"id: mine/marshal, file", "file", "s.yaml:18:5: workloads[1].id: workload without an id"},
		{"mine/marshal, file", "devices-50/marshal, file", `s.yaml:18:5: workload "devices-50/marshal" is listed twice`},
		{`"<= 0.5"`, `"= 0.5"`, `s.yaml:22:44: "= 0.5" does not start with <= or >=; e.g. "<= 0.5"`},
		{`ratio: "<= 0.5"`, `ratio: "<= 1", value: "<= 1"`, "s.yaml:22:5: a criterion needs exactly one of ratio"},
		{"contender: fast, metric: time, ratio", "contender: slow, metric: time, ratio", `s.yaml:22:17: unknown contender "slow"; name one of`},
		{"equivalent: 3%", "equivalent: x%", `s.yaml:23:55: "x%" is not a percentage`},
		{"metric: cpu", "metric: allocs", `s.yaml:23:14: metric "allocs" is not among the study's metrics; add it to metrics:`},
		{"kind: ratio", "kind: rank", `s.yaml:26:48: unknown claim kind "rank"; known: ratio, statement, count, trend`},
		{"value: 45478.5", "value: 0", "s.yaml:26:5: a ratio claim needs baseline and value above zero"},
		{"side: lower", "side: left", `s.yaml:26:168: "left" is neither lower nor higher`},
		// YAML itself
		{`"<= 0.5"`, ">= 0.5", `s.yaml:22:44: invalid header option: "= 0.5}"; put it in quotes: ">= 0.5"`},
		{"baseline: encoding-json", "\tbaseline: encoding-json", "s.yaml:5:1: a tab where the line begins; indent with spaces"},
		{"baseline: encoding-json", "baseline: encoding-json: x", "s.yaml:5:11: mapping value is not allowed in this context; put a text with a colon in quotes"},
		{"  - {id: fast", "- {id: fast", "s.yaml:8:1: "},
		{"kinds: [codec]", "kinds: [codec", "s.yaml:5:1: "},
		{"kinds: [codec]", "kinds: &k [codec]", "s.yaml:4:8: YAML anchors, aliases and tags are not used in study files; write the value itself"},
		{"kinds: [codec]", "kinds: *k", "s.yaml:4:8: YAML anchors"},
		{"kinds: [codec]", "kinds: [!!str codec]", "s.yaml:4:9: YAML anchors"},
		{"kinds: [codec]", "<<: {a: b}", "s.yaml:4:1: a key of this file is a plain word"},
		{"budget:", "---\nbudget:", "s.yaml:29:1: a second document in one file; write one study per file"},
		{"# a comment", "%YAML 1.2\n---", "s.yaml:1:1: YAML directives are not used"},
		{"Is jsoniter", "Is \x00 jsoniter", "s.yaml:3:14: control character U+0000; study files are plain text"},
		{"Is jsoniter", "É \xff jsoniter", "s.yaml:3:13: not UTF-8 text; save the file as UTF-8"},
	} {
		if !strings.Contains(whole, c.old) {
			t.Fatalf("%q is not in the study", c.old)
		}
		_, err := Parse("s.yaml", []byte(strings.Replace(whole, c.old, c.new, 1)))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q → %q: error %v, want an *Error", c.old, c.new, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q → %q:\n got %s\nwant %s…", c.old, c.new, err, c.want)
		}
	}
}

func TestNotAStudyAtAll(t *testing.T) {
	for src, want := range map[string]string{
		"":                          "s:1:1: nothing in the file; begin with study: NAME",
		"# only words\n":            "s:1:1: nothing in the file",
		"---\n---\n":                "s:1:1: nothing in the file",
		"hello":                     "s:1:1: the study is text, not a mapping; begin with study: NAME",
		"[1, 2]":                    "s:1:1: the study is a list, not a mapping",
		"{}":                        "s:1:1: study: missing; give the study a name",
		"study: x\n":                "s:1:1: kind: missing",
		strings.Repeat("[", 100):    "s:1:65: nested too deeply; write fewer levels",
		strings.Repeat("#", 300000): "s:1:1: the file has 300000 bytes; a study file has at most 262144",
	} {
		if _, err := Parse("s", []byte(src)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", src, err, want)
		}
	}
}

// Somebody who knows more than the parser can point at fields too.
func TestLocate(t *testing.T) {
	_, at, err := Read("s.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"contenders[1].use": "s.yaml:8:21: w; h",
		"contenders[0].use": "s.yaml:7:5: contenders[0].use: w; h",
		"kinds[0]":          "s.yaml:4:9: w; h",
		"nothing[3].like":   "s.yaml:1:1: nothing[3].like: w; h",
		"":                  "s.yaml:1:1: w; h",
	} {
		if got := at.Locate(&tare.FieldError{Path: path, What: "w", Hint: "h"}).Error(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if other := errors.New("x"); at.Locate(other) != other {
		t.Error("another error is not left alone")
	}
}

func TestGoRelease(t *testing.T) {
	for in, want := range map[string]string{
		"go1.25.5": "go1.25.5", "1.25.5": "go1.25.5", "go1.27rc1": "go1.27rc1", "1.26.0": "go1.26.0", "go1.26beta2": "go1.26beta2",
		"go1.25": "", "1": "", "": "", "go": "", "latest": "", "go1.25.5 ": "", "go1.025.5": "", "go1.25.5rc1": "", "gogo1.25.5": "", "go1.25.x": "", "go1.25.5,go1.26.0": "",
	} {
		got, ok := GoRelease(in)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", in, got, ok, want)
		}
	}
}

// A contender of a study may be built with experiments, which --go of other commands does not take.
func TestGoToolchain(t *testing.T) {
	for in, want := range map[string]string{
		"go1.25.5": "go1.25.5", "1.26.8+jsonv2": "go1.26.8+jsonv2", "go1.27rc1+nojsonv2+simd": "go1.27rc1+nojsonv2+simd",
		"go1.26+jsonv2": "", "go1.26.8+": "", "go1.26.8+jsonv2+": "", "go1.26.8+Jsonv2": "", "go1.26.8+a,b": "", "+jsonv2": "",
	} {
		got, ok := goToolchain(in)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v, want %q", in, got, ok, want)
		}
	}
}

func TestAmountsOfMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1048576": 1 << 20, "200MB": 200e6, "200 MB": 200e6, "1.5MiB": 3 << 19, "64KiB": 1 << 16, "0.5GiB": 1 << 29, "0.8GB": tare.MaxHeap, "2.5kB": 2500, "10B": 10, `"7B"`: 7,
	} {
		s, err := Parse("s.yaml", []byte(strings.Replace(whole, "heap: 200MB", "heap: "+text, 1)))
		if err != nil || s.Workloads[2].Heap != want {
			t.Errorf("%s: %v, want %d", text, err, want)
		}
	}
}

// beside is a study with a contender that somebody has to give, a claim of a
// whole and a break-even.
const beside = `study: ffi
kinds: copier
baseline: json
contenders: [json, ours, {id: theirs, given: example.com/theirs}]
workloads:
  - {id: w, fixture: person, op: single}
  - {id: v, fixture: object, op: single, contenders: ours}
metrics: [time, cpu]
claims:
  - {id: F, kind: ratio, contender: ours, workload: w, metric: time, baseline: 2.6, value: 0.05, unit: ms/frame, whole: 16.6, whole_of: a frame, statement: s}
  - {id: G, kind: statement, contender: ours, check: identity, statement: s}
break_even:
  contender: ours
  workloads: [w, v]
  rates: [10/s, 1500]
`

func TestBeside(t *testing.T) {
	got, err := Parse("s.yaml", []byte(beside))
	if err != nil {
		t.Fatal(err)
	}
	if got.Contenders[2].Given != "example.com/theirs" || got.Claims[0].Whole != 16.6 || got.Claims[0].WholeOf != "a frame" {
		t.Errorf("%+v", got)
	}
	if want := []tare.BreakEven{{Contender: "ours", Workloads: []string{"w", "v"}, Rates: []float64{10, 1500}}}; !reflect.DeepEqual(got.BreakEven, want) {
		t.Errorf("%+v, want %+v", got.BreakEven, want)
	}
	for _, c := range []struct{ old, new, want string }{
		{"given: example.com/theirs", "given: ../theirs", `s.yaml:4:46: "../theirs" cannot be the path of a module`},
		{"given: example.com/theirs", "given: a, command: [b]", "s.yaml:4:46: a contender with command is not built by tare"},
		{"check: identity", "check: identity, whole: 3", "s.yaml:11:71: only the figures of a ratio are parts of a whole; leave whole out, or write kind: ratio"},
		{"whole: 16.6, ", "", "s.yaml:10:5: claims[0].whole: a whole that is not above zero"},
		{"unit: ms/frame", "unit: frames", `s.yaml:10:104: a whole in "frames"`},
		{"10/s", "10/min", `s.yaml:15:11: "10/min" is not a rate`},
		{"[10/s, 1500]", "[10/s, 1]", "s.yaml:15:17: rates ascend from above zero"},
		{"contender: ours\n  workloads: [w, v]", "contender: nobody\n  workloads: [w, v]", `s.yaml:13:14: unknown contender "nobody"`},
		{"contenders: ours}", "contenders: json}", "s.yaml:13:3: ours is not asked v"},
		{"rates:", "rate:", `s.yaml:15:3: unknown key "rate"; did you mean rates?`},
	} {
		if !strings.Contains(beside, c.old) {
			t.Fatalf("%q is not in the study", c.old)
		}
		_, err := Parse("s.yaml", []byte(strings.Replace(beside, c.old, c.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q → %q:\n got %v\nwant %s…", c.old, c.new, err, c.want)
		}
	}
}
