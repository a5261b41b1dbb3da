package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/golden"
	"github.com/tarebench/tare/report"
)

// everything is a report that has everything.
func everything() Report {
	p := project.Default(".")
	p.Accept = []project.Waiver{waiverOf("Get$", "allocs", "2026-12-31"), waiverOf("Old", "", "2026-05-01")}
	m := Measured{
		Base: "main (1a2b3c4d5)", Head: "worktree at 6e7f8a9b0 with changes", Commit: "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d",
		Results: []*tare.Result{result(
			bench{id: decode, effects: steady(1.002)},
			bench{id: encode, effects: steady(1.124), base: same(3), head: same(4)},
			bench{id: "example.com/m/store.BenchmarkGet", effects: restless(0.4), base: same(0), head: same(1)},
			bench{id: "example.com/m/store.BenchmarkPut", effects: steady(0.41)},
			bench{id: "example.com/m/store.BenchmarkScan/a|b", effects: steady(1), void: "store is closed"},
		)},
		Skipped: []Skipped{
			{What: "example.com/m/store.BenchmarkNew", Why: "it is in head only", OneSided: true},
			{What: "example.com/m/store.BenchmarkList", Why: "a budget of 40s has no time for it"},
			{What: "example.com/m/store.BenchmarkOld", Why: "it is in main only", OneSided: true},
			{What: "example.com/m/store.BenchmarkWalk", Why: "a budget of 40s has no time for it"},
		},
		Commands: advised(),
		Notes:    []string{"main (1a2b3c4d5): submodule third_party is left empty; git submodules are not fetched"},
	}
	return Judge(p, m, map[string]Place{"example.com/m/codec.BenchmarkEncode": {File: "codec/codec_test.go", Line: 12}}, at("2026-06-01"), "tare.yaml")
}

func slower() Report {
	return judged(project.Default("."), bench{id: encode, effects: steady(1.124)}, bench{id: decode, effects: steady(1)})
}

func open() Report {
	return judged(project.Default("."), bench{id: encode, effects: restless(0.15)}, bench{id: decode, effects: steady(1)})
}

func passing() Report { return judged(project.Default("."), bench{id: decode, effects: steady(1)}) }

// What others named is never read as anything but text: not by a terminal, not by
// Markdown, not by GitHub or GitLab.
func TestHostileNames(t *testing.T) {
	const esc = "\x1b]52;c;CANARY\a\x1b[2J\u202e\u009b1m"
	hostile := "/close " + esc + " &commat;victim @victim www.evil.example https://evil.example [x](y) ![p](q) <b> !1 $2 ```\n::error::CANARY"
	p := project.Default(".")
	m := Measured{
		Base: hostile, Head: hostile, Commit: strings.Repeat("a", 40),
		Results: []*tare.Result{result(bench{id: "example.com/m.Benchmark" + hostile, effects: steady(1.5)}, bench{id: decode, effects: steady(1), void: hostile})},
		Skipped: []Skipped{{What: hostile, Why: hostile}}, Notes: []string{hostile},
	}
	rep := Judge(p, m, map[string]Place{"example.com/m.Benchmark" + hostile: {File: hostile, Line: 1}}, at("2026-06-01"), "tare.yaml")
	if !rep.Blocked {
		t.Error("nothing blocks")
	}
	var text, md, notes, out bytes.Buffer
	for _, err := range []error{WriteText(&text, rep, report.Style{}, true), WriteMarkdown(&md, rep), WriteAnnotations(&notes, rep), WriteStepOutputs(&out, rep, 3)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, printed := range map[string]string{"text": text.String(), "Markdown": md.String(), "annotations": notes.String(), "outputs": out.String()} {
		if i := strings.IndexFunc(printed, func(r rune) bool { return r != '\n' && r != '\u200b' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s has %q", name, printed[i:i+6])
		}
		for line := range strings.Lines(printed) {
			if strings.HasPrefix(line, "::error::CANARY") || strings.HasPrefix(line, "/close") {
				t.Errorf("%s has a command: %s", name, line)
			}
		}
	}
	fenced := false
	for line := range strings.Lines(md.String()) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		line = regexp.MustCompile("(`+) .*? (`+)").ReplaceAllString(line, "") // spans of code
		for _, bad := range []string{" &commat;", "@victim", "www.evil", "https://evil", "[x](", "![p]", "<b>", " !1", " $2"} {
			if strings.Contains(line, bad) {
				t.Errorf("Markdown has %s: %s", bad, line)
			}
		}
	}
}

func TestRendering(t *testing.T) {
	for name, rep := range map[string]Report{"everything": everything(), "slower": slower(), "open": open(), "passing": passing(), "nothing": Judge(project.Default("."), Measured{Base: "main (1a2b3c4d5)", Head: "worktree"}, nil, at("2026-06-01"), "")} {
		var text, md, notes, quality, out bytes.Buffer
		for _, err := range []error{WriteText(&text, rep, report.Style{}, false), WriteMarkdown(&md, rep), WriteAnnotations(&notes, rep), WriteCodeQuality(&quality, rep), WriteStepOutputs(&out, rep, 3)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		golden.Check(t, name+".txt", text.Bytes())
		golden.Check(t, name+".md", md.Bytes())
		golden.Check(t, name+".annotations", notes.Bytes())
		golden.Check(t, name+".quality.json", quality.Bytes())
		if strings.Count(out.String(), "\n") != 4 {
			t.Errorf("%s: outputs %q", name, out.String())
		}
		if !json.Valid(quality.Bytes()) {
			t.Errorf("%s: not JSON", name)
		}
	}
}

var folded = regexp.MustCompile(`(?s)<details>(<summary>[^\n]*</summary>).*?</details>`)

// Of 20 benchmarks of which three differ, a comment shows what differs and how many pass
// in 15 lines; all the rest is behind two folds.
func TestMarkdownIsShort(t *testing.T) {
	benches := []bench{{id: encode, effects: steady(1.19)}, {id: decode, effects: steady(0.81)}, {id: "example.com/m.BenchmarkTotal", effects: steady(0.7)}}
	for i := range 17 {
		benches = append(benches, bench{id: fmt.Sprintf("example.com/m.BenchmarkSame%d", i), effects: steady(1.001)})
	}
	var md bytes.Buffer
	if err := WriteMarkdown(&md, judged(project.Default("."), benches...)); err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(strings.TrimSpace(folded.ReplaceAllString(md.String(), "$1")), "\n")
	if len(shown) > 15 {
		t.Errorf("%d lines:\n%s", len(shown), strings.Join(shown, "\n"))
	}
	for _, want := range []string{"Encode", "Decode", "Total", "37 pass", "What to do"} {
		if !strings.Contains(strings.Join(shown, "\n"), want) {
			t.Errorf("%s is not shown:\n%s", want, strings.Join(shown, "\n"))
		}
	}
	if n := strings.Count(md.String(), "Same"); n != 34 {
		t.Errorf("%d of 34 rows that pass are in the folds", n)
	}
}

// What is left out of the waivers to be copied is named.
func TestManyWaivers(t *testing.T) {
	rep := Report{Rows: []Row{{Benchmark: "a.A", Metric: "time", Outcome: Worse}, {Benchmark: "a.A", Metric: "allocs", Outcome: Worse}}}
	for _, name := range []string{"a.B", "a.C", "a.D", "routes/x y"} {
		rep.Rows = append(rep.Rows, Row{Benchmark: name, Metric: "time", Outcome: Worse})
	}
	lines := rep.waiverEntries()
	if last := lines[len(lines)-1]; last != "  # and likewise: a.D, routes/x y" || slices.Contains(lines, "  - benchmark: '^a\\.D$'") {
		t.Errorf("%q", lines)
	}
	rep.Rows = rep.Rows[:4]
	if lines = rep.waiverEntries(); lines[len(lines)-1] != "    reason: why it is worth it" {
		t.Errorf("%q", lines)
	}
}

// TestMarkdownCallsNobody: a comment of a pull request notifies whoever is named in it
// after an @. Names that come from the code under test do not, outside of code.
func TestMarkdownCallsNobody(t *testing.T) {
	rep := everything()
	rep.Head, rep.Base = "worktree at @head", "@base (1a2b3c4d5)"
	rep.Skipped = append(rep.Skipped, Skipped{What: "example.com/m@v1.2.3", Why: "it is @left"})
	rep.Remarks = append(rep.Remarks, Remark{Severity: SeverityNote, Text: "@note"})
	var md bytes.Buffer
	if err := WriteMarkdown(&md, rep); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"head", "base", "left", "note", "v1.2.3"} {
		if !strings.Contains(md.String(), "@\u200b"+name) {
			t.Errorf("@%s is not there, or calls somebody:\n%s", name, md.String())
		}
	}
	for i, line := range strings.Split(md.String(), "\n") {
		if strings.Contains(strings.ReplaceAll(line, "@\u200b", ""), "@") {
			t.Errorf("line %d calls somebody: %s", i+1, line)
		}
	}
}
