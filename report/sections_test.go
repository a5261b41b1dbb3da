package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// lineOf returns the first line of text that starts with start after white space, with its fields
// separated by one space.
func lineOf(t *testing.T, text, start string) string {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), start) {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	t.Fatalf("no line starts with %q in\n%s", start, text)
	return ""
}

// sectionText returns the section of the text report below heading, or "" if there is none.
func sectionText(t *testing.T, r *tare.Result, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(text(t, r, Style{Width: 400}), "\n"+heading+"\n")
	if !found {
		return ""
	}
	for i, line := range strings.Split(after, "\n") {
		if line != "" && line[0] != ' ' {
			return strings.Join(strings.Split(after, "\n")[:i], "\n")
		}
	}
	return after
}

func TestAdoption(t *testing.T) {
	const heading = "WHAT TAKING ONE IN BRINGS"
	r := base()
	assert.Equal(t, "nothing known", sectionText(t, r, heading), "")
	r.Contenders[1].Adoption = tare.Adoption{Released: "2021-09-11", Unmaintained: "its repository was archived"}
	got := sectionText(t, r, heading)
	assert.Equal(t, "only a date", lineOf(t, got, "jsoniter-fastest"), "jsoniter-fastest – 2021-09-11 – – – –")
	assert.Contains(t, "in words", got, "\n    unmaintained: its repository was archived\n")
	if strings.Contains(got, "encoding-json") || strings.Contains(got, "null") {
		t.Errorf("of others nothing is known:\n%s", got)
	}
	r.Contenders[1].BinaryBytes, r.Contenders[1].Adoption.ModulesLinked = 4659563, 3
	r.Contenders[0].BinaryBytes = 3739420
	r.Contenders[3].BinaryBytes = 3512320
	got = sectionText(t, r, heading)
	assert.Equal(t, "built", lineOf(t, got, "jsoniter-fastest"), "jsoniter-fastest 3 2021-09-11 4,659,563 – – –")
	assert.Equal(t, "no modules", lineOf(t, got, "encoding-json"), "encoding-json (baseline) 0 – 3,739,420 – – –")
	assert.Contains(t, "the harness", got, "null is the one that does nothing")
	md := written(t, "md", r)
	assert.Contains(t, "licences that are not known", md, "| jsoniter-fastest | `github.com/json-iterator/go@v1.1.12` | 3 | – | 2021-09-11 |")
	assert.Contains(t, "none to be known", md, "| encoding-json (baseline) | `encoding/json@go1.26.8` | 0 | none | – |")
	r.Findings = []tare.Finding{{Check: "identity", Severity: tare.Void, Contender: "jsoniter-fastest", Message: "not linked"}}
	if strings.Contains(sectionText(t, r, heading), "jsoniter") {
		t.Error("who may not be what it says it is has a row")
	}
	assert.Contains(t, "csv", written(t, "csv", six()), ",jsoniter-fastest,contender,github.com/json-iterator/go,v1.1.12,unmaintained,,,,,,,,,,,,,,,,,,,,adoption,,,,,,,,its repository was archived on 2024-12-15\n")
}

func TestCost(t *testing.T) {
	const heading = "WHAT THE DIFFERENCE COMES TO"
	assert.Equal(t, "none", sectionText(t, base(), heading), "")
	got := sectionText(t, binary(), heading)
	assert.Contains(t, "rate", got, "by cpu, at 20 operations per second")
	assert.Equal(t, "costs more", lineOf(t, got, "gob"), "gob 0.565 -0.0193 [-0.0249, -0.0137] 1,040")
	assert.Equal(t, "the baseline", lineOf(t, got, "encoding-json (base"), "encoding-json (baseline) 0.546 – –")
	r := binary()
	for i := range r.Cost {
		r.Cost[i].SavedLow, r.Cost[i].SavedHigh, r.Cost[i].OnePercent = 0, 0, 0
	}
	assert.Equal(t, "no bounds, no difference", lineOf(t, sectionText(t, r, heading), "gob"), "gob 0.565 -0.0193 [no bounds yet] –")
	r.Findings = []tare.Finding{{Check: "control", Severity: tare.Void, Workload: "devices-50/roundtrip", Message: "void"}}
	assert.Equal(t, "void", sectionText(t, r, heading), "")

	got = sectionText(t, twelve(), heading)
	assert.Contains(t, "without a rate", got, "Operations per second: the rate at which the difference to encoding-json, by cpu, is 1 % of one core; – if no difference was shown. In brackets: the contender takes more than encoding-json; else it takes less.")
	assert.Equal(t, "one", lineOf(t, got, "jsoniter-default"), "jsoniter-default 1,110")
	if strings.Contains(got, "goccy") || strings.Contains(got, "used") {
		t.Errorf("what is void, or was not asked for:\n%s", got)
	}
	for _, want := range []string{"devices-50/roundtrip,gob,contender,encoding/gob,go1.26.8,cpu_saved_cores,cores,-0.00019", "cpu_one_percent_rate,1/s,"} {
		assert.Contains(t, "csv", written(t, "csv", binary()), want)
	}
}

func TestScaling(t *testing.T) {
	const heading = "HOW TIME GROWS WITH SIZE"
	assert.Equal(t, "none", sectionText(t, base(), heading), "")
	r := six()
	got := sectionText(t, r, heading)
	assert.Contains(t, "what it means", got, "1: twice the bytes take twice the time; 0: the size makes no difference.")
	assert.Contains(t, "over what", got, "marshal of devices: over devices-1/marshal, devices-50/marshal and devices-1000/marshal.")
	assert.Equal(t, "an exponent", lineOf(t, got, "sonic-default"), "sonic-default 0.99 [0.98, 1.00]")
	assert.Equal(t, "too few rounds", lineOf(t, got, "goccy"), "goccy 0.99 [no interval yet]")
	r.Findings = []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "sonic-default", Workload: "devices-50/marshal", Message: "wrong"}}
	assert.Equal(t, "void on one size", lineOf(t, sectionText(t, r, heading), "sonic-default"), "sonic-default ~0.99~")
	r.Scaling = append(r.Scaling, tare.Scaling{Contender: "goccy", Fixture: "events", Op: "marshal", Workloads: []string{"a", "b", "c"}, Exponent: 0.5, Low: 0.4, High: 0.6, Level: 0.99})
	got = sectionText(t, r, heading)
	assert.Equal(t, "two fits", lineOf(t, got, "goccy"), "goccy 0.99 [no interval yet] 0.50 [0.40, 0.60]")
	assert.Equal(t, "not fitted", lineOf(t, got, "sonic-std"), "sonic-std 0.99 [0.98, 1.01] –")
	assert.Contains(t, "its level", got, "exponent [99 % interval]")
	assert.Contains(t, "csv", written(t, "csv", r), ",time_exponent,,0.9812,0.9691,0.9931")
}

func TestSetting(t *testing.T) {
	assert.Equal(t, "as usual", describeDeparture(base()), "")
	assert.Equal(t, "six", describeDeparture(six()), "Not the default: GOMAXPROCS=2, GOGC=50, GOMEMLIMIT=1GiB. Built with github.com/goccy/go-json from ./goccy, instead of the released module: goccy. Not built with the baseline's go1.26.8: go-json-experiment (go1.25.5).")
	r := twelve()
	for i := range r.Contenders {
		r.Contenders[i].Go = "go1.25.5"
	}
	assert.Equal(t, "all with another", describeDeparture(r), "Contenders were built with go1.25.5 (tare itself with go1.26.8).")
	assert.Contains(t, "benchfmt", written(t, "benchfmt", r), "\ngo: go1.25.5\n")
	assert.Contains(t, "versions", told(t, r), "modules github.com/bytedance/sonic: v1.15.5 in sonic-default and sonic-std; v1.15.4 in sonic-fastest")
	r.Contenders[0].Go, r.Contenders[1].Go = "", "go1.26.8"
	assert.Contains(t, "the baseline's is not known", describeDeparture(r), "Contenders were not all built with the same Go: jsoniter-fastest (go1.26.8); goccy, sonic-default,")
	got := written(t, "benchfmt", six())
	assert.Contains(t, "benchfmt", got, "\ngo: go1.26.8 go1.25.5\nisolation: lockstep\nprocs: 2\nenv: GOGC=50 GOMEMLIMIT=1GiB\n")
	assert.Contains(t, "benchfmt says who", got, "\n# Not built with the baseline's go1.26.8: go-json-experiment (go1.25.5)\n")
	for _, format := range []string{"text", "md", "research"} {
		assert.Contains(t, format, strings.Join(strings.Fields(written(t, format, six())), " "), "Not the default: GOMAXPROCS=2, GOGC=50, GOMEMLIMIT=1GiB")
		assert.Contains(t, format, strings.Join(strings.Fields(written(t, format, six())), " "), "while 200 MB of heap are held live.")
	}
}

func TestMemory(t *testing.T) {
	for bytes, want := range map[int64]string{200e6: "200 MB", 64 << 20: "64 MiB", 1 << 30: "1,024 MiB", 1234567: "1.2 MB", 4096: "4,096 B"} {
		assert.Equal(t, want, formatMemory(bytes), want)
	}
}

// If a workload does not say how many bodies rotate, the report states no number.
func TestPoolIsNotMadeUp(t *testing.T) {
	w := tare.Workload{ID: "w", Fixture: "devices", N: 50, Op: "marshal"}
	assert.Equal(t, "unsaid", describeWorkload(base(), w), "What is asked: marshal of devices, 50 items per body.")
	w.Pool, w.Heap = 2, 64<<20
	assert.Equal(t, "said", describeWorkload(base(), w), "What is asked: marshal of devices, 50 items per body, 2 different bodies in turn, while 64 MiB of heap are held live.")
}

// The head of a column names the level that most of its intervals have. A row with another level
// names its own.
func TestLevels(t *testing.T) {
	r := twelve()
	at := func(id string, level float64) {
		for i := range r.Comparisons {
			if c := &r.Comparisons[i]; c.Contender == id && c.Metric == "time" {
				c.Level = level
			}
		}
	}
	got := text(t, r, Style{Width: 120})
	assert.Contains(t, "most", got, "ratio [98.33 % interval]")
	assert.Equal(t, "the control", lineOf(t, got, "control"), "control 1.001 [0.991, 1.011] at 95 % – 94.21 95.16")
	for _, c := range r.Contenders {
		at(c.ID, 0.95)
	}
	at("segmentio", 0.975)
	got = text(t, r, Style{Width: 120})
	assert.Contains(t, "most", got, "ratio [95 % interval]")
	assert.Equal(t, "one", lineOf(t, got, "segmentio"), "segmentio 0.390 [0.386, 0.394] at 97.5 % 3–5 bg 36.70 37.06")
	if got := lineOf(t, got, "control"); strings.Contains(got, "at") {
		t.Errorf("the same level is said twice: %s", got)
	}
	v := newView(interrupted(), marshal)
	assert.Equal(t, "no level", v.intervalUnit("time"), "ratio [interval]")
	void := base()
	for i := range void.Comparisons {
		if c := &void.Comparisons[i]; c.Contender == tare.ControlID {
			c.Level = 0.99
		} else {
			c.Level = 0
		}
	}
	assert.Equal(t, "the control's alone", newView(void, marshal).intervalUnit("time"), "ratio [99 % interval]")
}

// A claim that is a statement has no ratio, and may have no workload.
func TestStatements(t *testing.T) {
	r := six()
	got := sectionText(t, r, "PUBLISHED CLAIMS")
	assert.Equal(t, "text", lineOf(t, got, "F0.19"), "F0.19 refuted – – –")
	assert.Contains(t, "text", got, "it is a drop-in replacement (jsoniter-fastest)\n")
	assert.Contains(t, "md", written(t, "md", r), "| F0.19 | it is a drop-in replacement | jsoniter-fastest | refuted | – | – | – |")
	assert.Contains(t, "csv", written(t, "csv", r), ",F0.19: refuted,claim,,,,,,,,it is a drop-in replacement\n")
	if strings.Contains(written(t, "csv", base()), ",claim,") {
		t.Error("a claim that stands beside its figure has a row of its own")
	}
}
