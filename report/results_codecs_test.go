package report

import (
	"fmt"
	"math"

	"github.com/tarebench/tare"
)

// Results of studies with many contenders, made up by hand like the others.

const reference = "encoding/json go1.26.8"

// differ returns a difference that a check of an operation found.
func differ(op, property string, class tare.DifferenceClass, asked, reference, got, says string) tare.Difference {
	bears := []string{op}
	if op == "marshal" {
		bears = append(bears, "stream")
	}
	return tare.Difference{BearsOn: bears, Property: property, Op: op, Case: fmt.Sprintf("%s of %s", property, asked), Class: class, Asked: asked, Reference: reference, Got: got, Says: says}
}

// odd returns differences that a codec can have, by short names.
func odd(names ...string) []tare.Difference {
	const value, acceptance, form = tare.DiffersInValue, tare.DiffersInAcceptance, tare.DiffersInForm
	known := map[string]tare.Difference{
		"tiny":       differ("marshal", "float digits", value, "1.5e-9", "1.5e-9", "0", "writes 1.5e-9 as 0"),
		"pi":         differ("marshal", "float digits", value, "3.141592653589793", "3.141592653589793", "3.141593", "writes 3.141592653589793 as 3.141593"),
		"large":      differ("marshal", "float digits", form, "1e21", "1e+21", "1000000000000000000000", "writes 1e21 as 1000000000000000000000"),
		"html":       differ("marshal", "HTML escaping", form, "<a&b>", `"\u003ca\u0026b\u003e"`, `"<a&b>"`, "leaves <, > and & unescaped"),
		"separator":  differ("marshal", "line separators", form, "U+2028", `"\u2028"`, "\"\u2028\"", "writes U+2028 as \"\u2028\""),
		"order":      differ("marshal", "key order", form, "map of 8", `{"a":1,"b":2}`, `{"b":2,"a":1}`, "writes map keys in random order"),
		"nil":        differ("marshal", "nil vs empty", value, "[]string(nil)", "null", "[]", "writes a nil slice as []"),
		"time":       differ("marshal", "times", form, "2026-03-01T12:00:00+00:00", `"2026-03-01T12:00:00Z"`, `"2026-03-01T12:00:00+00:00"`, "writes UTC as +00:00"),
		"utf8":       differ("marshal", "invalid UTF-8", value, "a\xffb", `"a\ufffdb"`, "\"a\xffb\"", "keeps invalid UTF-8"),
		"utf8-in":    differ("unmarshal", "invalid UTF-8", value, "\"a\xffb\"", `"a\ufffdb"`, "\"a\xffb\"", "keeps invalid UTF-8"),
		"big":        differ("any", "big integers", value, "9007199254740993", "float64 9007199254740992", "json.Number 9007199254740993", "decodes 9007199254740993 into any as json.Number 9007199254740993"),
		"duplicate":  differ("unmarshal", "duplicate keys", value, `{"a":1,"a":2}`, "2", "1", "takes the first of duplicate keys"),
		"case":       differ("unmarshal", "key case", value, `{"STRING":"x"}`, `"x"`, `""`, "does not match keys of another case"),
		"no-dup":     differ("unmarshal", "duplicate keys", acceptance, `{"a":1,"a":2}`, "2", "error", "refuses duplicate keys"),
		"comma":      differ("any", "trailing comma", acceptance, "[1,]", "error", "[1]", "accepts a trailing comma"),
		"zero":       differ("any", "leading zeros", acceptance, "01", "error", "1", "accepts leading zeros"),
		"plus":       differ("any", "leading plus", acceptance, "+1", "error", "1", "accepts a leading +"),
		"dot":        differ("any", "number syntax", acceptance, "1.", "error", "1", "accepts 1."),
		"nan":        differ("any", "number syntax", acceptance, "NaN", "error", "NaN", "accepts NaN"),
		"hex":        differ("any", "number syntax", acceptance, "0x10", "error", "16", "accepts 0x10"),
		"underscore": differ("any", "number syntax", acceptance, "1_000", "error", "1000", "accepts 1_000"),
		"infinity":   differ("any", "number syntax", acceptance, "-Infinity", "error", "-Inf", "accepts -Infinity"),
		"no-integer": differ("any", "number syntax", acceptance, ".5", "error", "0.5", "accepts .5"),
		"comment":    differ("any", "comments", acceptance, "/**/1", "error", "1", "accepts comments"),
		"single":     differ("any", "quotes", acceptance, "'a'", "error", "a", "accepts single quotes"),
		"control":    differ("any", "control characters", acceptance, "\"a\tb\"", "error", "a\tb", "accepts a raw tab in a text"),
		"garbage":    differ("any", "trailing garbage", acceptance, "1 x", "error", "1", "accepts what follows the document"),
		"deep":       differ("any", "nesting", acceptance, "[[[[…]]]]", "error", "[[[[…]]]]", "accepts 10,001 levels of nesting"),
		"round-nil":  differ("roundtrip", "nil vs empty", value, "[]string{}", "[]string{}", "[]string(nil)", "brings an empty slice back as nil"),
		"round-zone": differ("roundtrip", "times", value, "12:00:00+01:00", "12:00:00+01:00", "11:00:00Z", "brings a time back in UTC"),
		"round-any":  differ("roundtrip", "any", value, "int 7", "float64 7", "int64 7", "brings a number in any back as int64"),
	}
	var out []tare.Difference
	for _, n := range names {
		d, ok := known[n]
		if !ok {
			panic("no difference " + n)
		}
		out = append(out, d)
	}
	return out
}

// codec is a row of a made-up study.
type codec struct {
	id, name, version string
	ratio             float64 // of time to the baseline's; zero: it is the baseline
	rankLow, rankHigh int
	letters           string
	odd               []tare.Difference
	unsupported       []string
	adoption          tare.Adoption
	binary            int64
}

// manyCodecs is a result of codecs on workloads; those marked false are not
// measured on the last one.
func manyCodecs(codecs []codec, workloads []tare.Workload, took []float64) *tare.Result {
	r := base()
	r.Workloads, r.Metrics = workloads, []string{"time", "cpu"}
	r.Contenders, r.Values, r.Comparisons, r.Conformance, r.Claims, r.Verdicts, r.Findings = nil, nil, nil, nil, nil, nil, nil
	for i, c := range codecs {
		role := tare.RoleContender
		if i == 0 {
			role = tare.RoleBaseline
		}
		r.Contenders = append(r.Contenders, tare.Contender{ID: c.id, Role: role, Name: c.name, Version: c.version, Build: tare.Build{Go: goJSON, BinaryBytes: c.binary}, Adoption: c.adoption})
		if c.odd != nil || c.unsupported != nil || c.ratio == 0 {
			r.Semantics = append(r.Semantics, tare.Semantics{Contender: c.id, Reference: reference, Cases: 131 - 30*len(c.unsupported), Differences: c.odd, Unsupported: c.unsupported})
		}
	}
	r.Contenders = append(r.Contenders,
		tare.Contender{ID: tare.ControlID, Role: tare.RoleControl, Name: "encoding/json", Version: goJSON, Build: tare.Build{Go: goJSON}},
		tare.Contender{ID: tare.NullID, Role: tare.RoleNull, Build: tare.Build{Go: goJSON, BinaryBytes: 3512320}, Adoption: tare.Adoption{IdleRSSBytes: 5_900_000, StartSeconds: 0.0041}})
	for k, w := range workloads {
		for _, c := range codecs {
			x := c.ratio
			if x == 0 {
				x = 1
			}
			r.Values = append(r.Values, figures(w.ID, c.id, took[k]*x, took[k]*x*1.01, 0, 0)[:2]...)
			r.Conformance = append(r.Conformance, tare.Conformance{Contender: c.id, Workload: w.ID, Cases: 64})
			wide := 1 + 0.01*float64(k+1)
			cs := against(w.ID, c.id, x, x/wide, x*wide, c.rankLow, c.rankHigh, c.letters)[:2]
			if c.ratio == 0 {
				cs = cs[:1] // the baseline's own
				cs[0].Low, cs[0].High = 1, 1
			} else if k == 0 {
				cs[0].Level = 0.9833
			}
			r.Comparisons = append(r.Comparisons, cs...)
		}
		r.Values = append(r.Values, slicesOf(figures(w.ID, tare.ControlID, took[k]*1.001, took[k]*1.011, 0, 0)[:2], figures(w.ID, tare.NullID, 2.1, 2.4, 0, 0)[:2])...)
		r.Comparisons = append(r.Comparisons, against(w.ID, tare.ControlID, 1.001, 0.991, 1.011, 0, 0, "")[:2]...)
	}
	return r
}

// priced adds what the differences come to, at a rate or, where that is zero,
// at none.
func priced(r *tare.Result, rate float64) *tare.Result {
	for _, x := range r.Comparisons {
		c, _ := r.Contender(x.Contender)
		if x.Metric != "cpu" || c.Role != tare.RoleContender {
			continue
		}
		base, _ := newView(r, x.Workload).findValue(x.Against, "cpu")
		cost := tare.Cost{Workload: x.Workload, Contender: x.Contender, Against: x.Against, Metric: "cpu", Rate: rate}
		used := func(ratio float64) float64 { return base.Value * ratio * rate / 1e9 }
		if rate > 0 {
			cost.Cores, cost.AgainstCores, cost.Saved = used(x.Ratio), used(1), used(1-x.Ratio)
			cost.SavedLow, cost.SavedHigh = used(1-x.High), used(1-x.Low)
		}
		if x.Low > 1 || x.High < 1 {
			cost.OnePercent = 0.01 * 1e9 / (base.Value * math.Abs(1-x.Ratio))
		}
		cost.Sentence = fmt.Sprintf("%s and %s on %s: the difference is 1 %% of a core at %s a second.", x.Contender, x.Against, x.Workload, formatPerSecond(cost.OnePercent))
		r.Cost = append(r.Cost, cost)
	}
	return r
}

// taken returns what adopting a codec adds.
func taken(modules int, released string, build, rss, start float64, licences ...string) tare.Adoption {
	return tare.Adoption{ModulesLinked: modules, Licences: licences, Released: released, ColdBuildSeconds: build, IdleRSSBytes: int64(rss * 1e6), StartSeconds: start / 1e3}
}

func unmaintained(a tare.Adoption, why string) tare.Adoption {
	a.Unmaintained = why
	return a
}

func sixCodecs() []codec {
	return []codec{
		{id: "encoding-json", name: "encoding/json", version: goJSON, rankLow: 6, rankHigh: 6, letters: "e", binary: 3739420, adoption: taken(0, "", 0, 6.2, 4.4)},
		{id: "jsoniter-fastest", name: iter, version: "v1.1.12", ratio: 0.4634, rankLow: 3, rankHigh: 4, letters: "b", binary: 4659563,
			odd:      odd("tiny", "pi", "large", "html", "separator", "order", "utf8", "utf8-in", "case", "comma", "zero", "dot", "control"),
			adoption: unmaintained(taken(3, "2021-09-11", 6.4, 7.9, 5.2, "Apache-2.0", "MIT"), "its repository was archived on 2024-12-15")},
		{id: "goccy", name: "github.com/goccy/go-json", version: "v0.10.5", ratio: 0.4711, rankLow: 3, rankHigh: 4, letters: "b", binary: 5320114,
			odd: odd("duplicate", "control", "garbage"), adoption: taken(1, "2025-01-24", 11.8, 9.1, 6.3, "MIT")},
		{id: "sonic-default", name: "github.com/bytedance/sonic", version: "v1.15.5", ratio: 0.2214, rankLow: 1, rankHigh: 1, letters: "a", binary: 9875002,
			odd:      odd("html", "order", "nil", "utf8-in", "comma", "zero", "plus", "dot", "nan", "hex", "underscore", "infinity", "no-integer", "comment", "single", "control", "garbage", "deep"),
			adoption: taken(7, "2026-02-11", 31.2, 14.8, 21.9, "Apache-2.0", "BSD-3-Clause", "MIT", "unknown")},
		{id: "sonic-std", name: "github.com/bytedance/sonic", version: "v1.15.5", ratio: 0.3127, rankLow: 2, rankHigh: 2, letters: "c", binary: 9875002,
			odd: odd("separator", "control"), adoption: taken(7, "2026-02-11", 0, 14.8, 22.4, "Apache-2.0", "BSD-3-Clause", "MIT", "unknown")},
		{id: "go-json-experiment", name: "github.com/go-json-experiment/json", version: "v0.0.0-20260214", ratio: 0.8421, rankLow: 5, rankHigh: 5, letters: "d", binary: 4410233,
			odd: odd("html", "nil", "no-dup", "case"), unsupported: []string{"roundtrip"}, adoption: taken(1, "", 7.7, 7.0, 4.9, "BSD-3-Clause")},
	}
}

// six returns a study of six codecs at a rate, with its own settings of the environment.
func six() *tare.Result {
	devices := func(n int) tare.Workload {
		return tare.Workload{ID: fmt.Sprintf("devices-%d/marshal", n), Fixture: "devices", N: n, Op: "marshal", Pool: 64}
	}
	held := tare.Workload{ID: "devices-50/unmarshal-200MB", Fixture: "devices", N: 50, Op: "unmarshal", Pool: 64, Heap: 200e6}
	r := manyCodecs(sixCodecs(), []tare.Workload{devices(1), devices(50), devices(1000), held}, []float64{2011, 94120, 1893000, 188000})
	r.Machine.Resolution = nil
	r.Env, r.Procs = []string{"GOGC=50", "GOMEMLIMIT=1GiB"}, 2
	r.Contenders[5].Go = "go1.25.5"
	r.Contenders[2].Modules = []tare.Module{{Path: thisModule, Version: "(devel)", Replace: "../../.."}, {Path: "github.com/goccy/go-json", Version: "(devel)", Replace: "./goccy"}}
	r.Verdicts = []tare.Verdict{
		{Contender: "jsoniter-fastest", Workload: "devices-50/marshal", Metric: "time", Criterion: "time ratio <= 0.5", Rule: tare.Rule{Kind: tare.RuleRatio, AtMost: true, Limit: 0.5}, Verdict: tare.Met,
			Sentence: "jsoniter-fastest: time ratio <= 0.5 is met: it takes 0.463× the time of encoding-json on devices-50/marshal (0.455 to 0.473, 95 %, 27 rounds): 2.2× faster, and it writes 1.5e-9 as 0."},
	}
	r.Claims = []tare.ClaimResult{
		claim("F0.9", "time", 0.49496, 0.4634, 0.4547, 0.4727, tare.Holds, "ConfigFastest is 2.02x faster", "the interval lies inside the published ratio ×/÷ 1.25"),
		{ID: "F0.19", Kind: tare.ClaimStatement, Source: "homelab API research, 2026-03-01", Statement: "it is a drop-in replacement", Evidence: "check semantic-diff",
			Contender: "jsoniter-fastest", Outcome: tare.Refuted, Why: "the check semantic-diff fired: it writes 1.5e-9 as 0"},
	}
	r.Findings = []tare.Finding{{Check: semanticDiff, Severity: tare.Warn, Contender: "jsoniter-fastest", Message: "it changes 5 values: it writes 1.5e-9 as 0", Advice: "read the table of differences"}}
	fitted := []string{"devices-1/marshal", "devices-50/marshal", "devices-1000/marshal"}
	for i, c := range sixCodecs() {
		e := 0.9812 + 0.003*float64(i)
		s := tare.Scaling{Contender: c.id, Fixture: "devices", Op: "marshal", Workloads: fitted, Exponent: e, Low: e - 0.0121, High: e + 0.0119, Level: 0.95, Rounds: 27, PerRound: []float64{e}}
		if c.id == "goccy" {
			s.Low, s.High, s.Rounds = e, e, 3
		}
		r.Scaling = append(r.Scaling, s)
	}
	return priced(r, 1000)
}

// twelve returns a study of twelve codecs without a rate. One of them is void by identity, one was
// asked no odd cases, and one is a trap.
func twelve() *tare.Result {
	all := append(sixCodecs(),
		codec{id: "jsoniter-default", name: iter, version: "v1.1.12", ratio: 0.9012, rankLow: 7, rankHigh: 9, letters: "f", odd: odd("order", "utf8", "utf8-in", "case", "comma", "zero", "dot", "control"), binary: 4659563, adoption: unmaintained(taken(3, "2021-09-11", 0, 7.9, 5.1, "Apache-2.0", "MIT"), "its repository was archived on 2024-12-15")},
		codec{id: "segmentio", name: "github.com/segmentio/encoding", version: "v0.5.4", ratio: 0.3899, rankLow: 3, rankHigh: 5, letters: "bg", odd: odd("separator"), binary: 4312001, adoption: taken(2, "2025-03-19", 4.1, 7.2, 4.8, "MIT")},
		codec{id: "easyjson", name: "github.com/mailru/easyjson", version: "v0.9.1", ratio: 0.3521, rankLow: 2, rankHigh: 4, letters: "cg", odd: odd("order", "case", "garbage"), unsupported: []string{"any"}, binary: 3981233, adoption: taken(2, "2025-09-09", 2.2, 6.6, 4.5, "MIT")},
		codec{id: "ffjson", name: "github.com/pquerna/ffjson", version: "v0.0.0-20190930134022", ratio: 0.6612, odd: odd("tiny", "time", "case"), unsupported: []string{"any", "roundtrip"}, binary: 4001102, adoption: unmaintained(taken(2, "2019-09-30", 3.0, 6.9, 4.6, "Apache-2.0", "MIT"), "no commit since 2019-09-30")},
		codec{id: "sonic-fastest", name: "github.com/bytedance/sonic", version: "v1.15.4", ratio: 0.2198, rankLow: 1, rankHigh: 1, letters: "a", odd: odd("html", "order", "nil", "utf8-in", "comma", "zero", "plus", "dot", "nan", "hex", "underscore", "infinity", "no-integer", "comment", "single", "control", "garbage", "deep"), binary: 9875002, adoption: taken(7, "2026-02-11", 0, 14.8, 22.0, "Apache-2.0", "BSD-3-Clause", "MIT", "unknown")},
		codec{id: "simdjson-go", name: "github.com/minio/simdjson-go", version: "v0.4.5", ratio: 0.7012, rankLow: 7, rankHigh: 9, letters: "f", unsupported: []string{"marshal", "roundtrip", "unmarshal", "any"}, binary: 4210000, adoption: taken(2, "2023-06-02", 5.5, 7.7, 5.0, "Apache-2.0", "MIT")})
	r := manyCodecs(all, []tare.Workload{{ID: marshal, Fixture: "devices", N: 50, Op: "marshal", Pool: 64}}, []float64{94120})
	for i := range r.Semantics {
		if r.Semantics[i].Contender == "simdjson-go" {
			r.Semantics[i].Cases = 0
		}
	}
	for i := range r.Contenders {
		if r.Contenders[i].ID == "ffjson" {
			r.Contenders[i].Role, r.Contenders[i].Why = tare.RoleTrap, "its tests were generated by another version"
		}
	}
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; (c.Contender == "sonic-default" || c.Contender == "sonic-fastest") && c.Metric == "time" {
			c.RankLow, c.RankHigh = 1, 2
		}
	}
	for i := range r.Values {
		if v := &r.Values[i]; v.Contender == "ffjson" || v.Contender == "goccy" {
			v.Struck = true
		}
	}
	r.Findings = []tare.Finding{{Check: "identity", Severity: tare.Void, Contender: "goccy", Message: "no function of github.com/goccy/go-json is linked"}}
	return priced(r, 0)
}

// binary returns a study of formats that are not JSON.
func binary() *tare.Result {
	asked := []string{"marshal", "unmarshal", "any"}
	r := manyCodecs([]codec{
		{id: "encoding-json", name: "encoding/json", version: goJSON, rankLow: 4, rankHigh: 5, letters: "c", binary: 3739420, adoption: taken(0, "", 0, 6.2, 4.4)},
		{id: "gob", name: "encoding/gob", version: goJSON, ratio: 1.0312, rankLow: 4, rankHigh: 5, letters: "c", odd: odd("round-nil"), unsupported: asked, binary: 3820117, adoption: taken(0, "", 0, 6.4, 4.6)},
		{id: "protobuf", name: "google.golang.org/protobuf", version: "v1.36.11", ratio: 0.2214, rankLow: 2, rankHigh: 2, letters: "b", odd: odd("round-nil", "round-zone", "round-any"), unsupported: asked, binary: 6120334, adoption: taken(1, "2025-12-12", 9.4, 8.8, 6.6, "BSD-3-Clause")},
		{id: "msgp", name: "github.com/tinylib/msgp", version: "v1.6.3", ratio: 0.0912, rankLow: 1, rankHigh: 1, letters: "a", odd: odd("round-any"), unsupported: asked, binary: 3999120, adoption: taken(2, "2025-11-08", 2.3, 6.5, 4.4, "ISC", "MIT")},
		{id: "cbor", name: "github.com/fxamacker/cbor/v2", version: "v2.9.0", ratio: 0.5123, rankLow: 3, rankHigh: 3, letters: "d", unsupported: asked, binary: 4120774, adoption: taken(2, "2025-07-13", 3.5, 7.1, 4.9, "MIT")},
	}, []tare.Workload{{ID: "devices-50/roundtrip", Fixture: "devices", N: 50, Op: "roundtrip", Pool: 64}}, []float64{270100})
	r.Study, r.Question = "json-binary", "What does a list of devices cost in formats that are not JSON?"
	r.Metrics = []string{"time", "cpu", "size"}
	for i, size := range []float64{11598, 7012, 6231, 8123, 8120, 11598} {
		id := r.Contenders[i].ID
		r.Values = append(r.Values, tare.Value{Workload: "devices-50/roundtrip", Contender: id, Metric: "size", Value: size, Low: size, High: size, Unit: "B", Rounds: 27})
		if i > 0 {
			x := size / 11598
			r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: "devices-50/roundtrip", Contender: id, Metric: "size", Against: "encoding-json", Ratio: x, Low: x, High: x, Level: 0.95, Rounds: 27, Exact: true, Exploratory: true})
		}
	}
	return priced(r, 20)
}
