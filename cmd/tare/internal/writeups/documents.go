package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/report"
)

// templates lists documents that are generated from a file of the same name with
// suffix .tmpl, in the syntax of text/template.
var templates = []string{"docs/claims.md", "docs/results.md"}

// writeAll returns every document by its path below root. Documents keep their text about runs
// without a stored result; missing names these runs.
func writeAll(root string) (out map[string][]byte, missing []string, err error) {
	w := &writer{root: root, loaded: map[string]runData{}}
	out = map[string][]byte{}
	for _, r := range runs {
		m, err := w.loadRun(r.name)
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, r.name)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		transcript := "docs/transcripts/" + r.name + ".txt"
		if out[transcript], err = renderTo(func(b *bytes.Buffer) error { return report.Text(b, m.result, report.Style{}) }); err != nil {
			return nil, nil, err
		}
		if r.name == "tiny" {
			if out["README.md"], err = w.fillReadme(string(out[transcript])); err != nil {
				return nil, nil, err
			}
		}
		if r.name == "ffi" {
			if out["cgocopy/README.md"], err = w.fillCopiers(); err != nil {
				return nil, nil, err
			}
		}
		if r.page == "" {
			continue
		}
		whole := fmt.Sprintf("the [transcript](../transcripts/%s.txt)", r.name)
		if len(m.result.Claims) > 0 {
			whole += ", and each published claim has its row in [claims.md](../claims.md)"
		}
		if out["docs/research/"+r.page], err = renderTo(func(b *bytes.Buffer) error { return report.ResearchWithin(b, m.result, maxPageWords, whole) }); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range templates {
		if out[path], err = w.fillTemplate(path); err != nil {
			return nil, nil, err
		}
	}
	return out, missing, nil
}

// maxPageWords limits the words of the sections of a page in docs/research, without its title
// and the list of omissions.
const maxPageWords = 2200

func renderTo(to func(*bytes.Buffer) error) ([]byte, error) {
	var b bytes.Buffer
	err := to(&b)
	return b.Bytes(), err
}

// writer loads each stored run once.
type writer struct {
	root   string
	loaded map[string]runData
}

type runData struct {
	result *tare.Result
	study  tare.Study
}

func (w *writer) loadRun(name string) (runData, error) {
	if m, ok := w.loaded[name]; ok {
		return m, nil
	}
	r, study, err := loadResult(w.root, name)
	if err != nil {
		return runData{}, err
	}
	w.loaded[name] = runData{r, study}
	return w.loaded[name], nil
}

// fillTemplate generates the document at path from its template, whose functions take the name
// of a stored run first. It keeps parts of the document that use a run without a stored result.
func (w *writer) fillTemplate(path string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(w.root, path+".tmpl"))
	if err != nil {
		return nil, err
	}
	before, err := os.ReadFile(filepath.Join(w.root, path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	written := map[string]string{} // the document's current parts, by title
	for _, part := range splitParts(string(before)) {
		written[titleOf(part)] = part
	}
	var out bytes.Buffer
	for _, part := range splitParts(string(source)) {
		text, err := w.fillPart(path+".tmpl", part)
		if old, ok := written[titleOf(part)]; ok && errors.Is(err, fs.ErrNotExist) {
			text, err = []byte(old), nil
		}
		if err != nil {
			return nil, err
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// splitParts returns the sections of a document, or its lines if it has no sections.
func splitParts(text string) (all []string) {
	if !strings.Contains(text, "\n## ") {
		return slices.Collect(strings.Lines(text))
	}
	for i, section := range strings.Split(text, "\n## ") {
		if i > 0 {
			all[i-1] += "\n"
			section = "## " + section
		}
		all = append(all, section)
	}
	return all
}

// titleOf returns the identity of a part of a document: the heading of a section, or the first
// cell of a table row.
func titleOf(part string) string {
	first, _, _ := strings.Cut(part, "\n")
	if cells := strings.Split(first, " | "); strings.HasPrefix(first, "| ") {
		return cells[0]
	}
	return first
}

// fillPart fills one part of the template at path.
func (w *writer) fillPart(path, source string) ([]byte, error) {
	t, err := template.New(path).Option("missingkey=error").Funcs(template.FuncMap{
		"quote":    w.quoteText,
		"claim":    w.claimShare,
		"claims":   w.claimsTable,
		"measured": w.claimRatio,
		"run":      w.describeRun,
		"ruling":   w.rulingOf,
		"count":    func(name string) (int, error) { return w.countEntries(name, func(tare.Entry) bool { return true }) },
		"ways":     func(name string) (int, error) { return w.countEntries(name, answersFully) },
		"recommended": func(name string) (string, error) {
			m, err := w.loadRun(name)
			if err != nil {
				return "", err
			}
			return m.result.Recommended, nil
		},
	}).Parse(source)
	if err != nil {
		return nil, err
	}
	return renderTo(func(b *bytes.Buffer) error { return t.Execute(b, nil) })
}

// quoteText replaces measurements named in braces, like in answers of studies: {{quote "tiny"
// "Gin takes {gin-new get-7/c100 cpu} the CPU time"}}.
func (w *writer) quoteText(name, text string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	return judge.Quote(m.study, m.result, text)
}

// claimsTable returns the table of a run's claims.
func (w *writer) claimsTable(name string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	text, err := renderTo(func(b *bytes.Buffer) error { return report.ClaimsMarkdown(b, m.result) })
	return strings.TrimSpace(string(text)), err
}

// claimRatio returns the measured ratio for a claim: "0.49× (0.48–0.50)".
func (w *writer) claimRatio(name, id string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	for _, c := range m.result.Claims {
		if c.ID == id && c.Kind == tare.ClaimRatio && c.Low < c.High {
			return format.Within(c.Measured, c.Low, c.High), nil
		}
	}
	return "", fmt.Errorf("run %s has no ratio with an interval for claim %s", name, id)
}

// claimShare returns the measured share for a claim: "82 % (80–83 %)".
func (w *writer) claimShare(name, id string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	for _, c := range m.result.Claims {
		if c.ID == id && c.Kind == tare.ClaimShare && c.Low < c.High {
			return fmt.Sprintf("%s (%s)", format.Percent(c.Measured), format.Interval(strings.TrimSuffix(format.Percent(c.Low), " %"), format.Percent(c.High))), nil
		}
	}
	return "", fmt.Errorf("run %s has no share with an interval for claim %s", name, id)
}

// rulingOf returns the result of a criterion of a run, named like in answers: {{ruling
// "homelab" "gin-new mix/c100 rss"}}.
func (w *writer) rulingOf(name, of string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	for _, v := range m.result.Verdicts {
		if v.Criterion != "" && v.Contender+" "+v.Workload+" "+v.Metric == of {
			return string(v.Verdict), nil
		}
	}
	return "", fmt.Errorf("run %s has no criterion about %q", name, of)
}

// countEntries counts the chosen entries of the study of a run.
func (w *writer) countEntries(name string, chosen func(tare.Entry) bool) (n int, err error) {
	m, err := w.loadRun(name)
	for _, e := range m.study.Contenders {
		if chosen(e) {
			n++
		}
	}
	return n, err
}

// answersFully chooses programs of the catalog that do all of the work: no traps, and no
// comparison by status only.
func answersFully(e tare.Entry) bool {
	return e.Launch() == tare.LaunchProgram && e.Answers == tare.AnswersWhole && e.Expect.IsZero()
}

// describeRun returns the conditions of a run: "12 rounds in 148 s, seed 2026, go1.26.8, …".
func (w *writer) describeRun(name string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	r := m.result
	return fmt.Sprintf("%d rounds in %.0f s on %s, seed %s, %s, %d cores, CPU pressure %s",
		r.RoundsDone, r.Seconds, r.Started.UTC().Format("2006-01-02"), r.Seed, r.Machine.Go, r.Machine.Cores, format.Percent(r.Machine.Noise.CPUPressure)), nil
}

// The table of cgocopy/README.md is between these lines.
const (
	copiersBegin = "<!-- figures of docs/runs/ffi:begin -->\n"
	copiersEnd   = "<!-- figures of docs/runs/ffi:end -->\n"
)

// fillCopiers returns cgocopy/README.md with the times of run ffi.
func (w *writer) fillCopiers() ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(w.root, "cgocopy", "README.md"))
	if err != nil {
		return nil, err
	}
	before, rest, begun := strings.Cut(string(source), copiersBegin)
	_, after, ended := strings.Cut(rest, copiersEnd)
	if !begun || !ended {
		return nil, errors.New("cgocopy/README.md has no place for the figures of ffi")
	}
	table := "\n| struct | published, its types registered | this module, `Copy` | this module, `FromC` | cgo by hand |\n|---|---|---|---|---|\n"
	for _, row := range [][2]string{{"person/single", "a person, new on the heap"}, {"object/single", "a game object, new on the heap"}, {"person/value", "a person, into a value"}, {"object/value", "a game object, into a value"}} {
		table += "| " + row[1]
		for _, who := range []string{"original", "cgocopy-copy", "cgocopy", "hand-cgo"} {
			figure, err := w.quoteText("ffi", "{"+who+" "+row[0]+" time}")
			if err != nil {
				return nil, err
			}
			table += " | " + figure
		}
		table += " |\n"
	}
	return []byte(before + copiersBegin + table + "\n" + copiersEnd + after), nil
}

// The excerpt of README.md is between these lines.
const (
	excerptBegin = "<!-- excerpt of docs/transcripts/tiny.txt:begin -->\n"
	excerptEnd   = "<!-- excerpt of docs/transcripts/tiny.txt:end -->\n"
)

// excerptContenders lists the contenders of the excerpt.
var excerptContenders = []string{"fasthttp", "nethttp", "gin-new", "gin-default", "control"}

// fillReadme returns README.md with the excerpt of the study tiny: verbatim rows from the table
// of its first workload.
func (w *writer) fillReadme(transcript string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(w.root, "README.md"))
	if err != nil {
		return nil, err
	}
	before, rest, begun := strings.Cut(string(source), excerptBegin)
	_, after, ended := strings.Cut(rest, excerptEnd)
	_, table, found := strings.Cut(transcript, "\nWORKLOAD get-7/c100\n")
	table, _, _ = strings.Cut(table, "\nWORKLOAD ")
	if !begun || !ended || !found {
		return nil, fmt.Errorf("README.md or the transcript of tiny has no place for the excerpt")
	}
	var rows []string
	width := 0 // of the columns up to the CPU time
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "    ") && len(rows) != 1 {
			continue
		}
		if words[0] != "contender" && len(rows) != 1 && !slices.Contains(excerptContenders, words[0]) {
			continue
		}
		line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "  ")
		if words[0] == "contender" {
			if width = strings.LastIndex(line, " cpu ") + len(" cpu"); !strings.Contains(line, " time ") {
				width = math.MaxInt
			}
		}
		cells := []rune(line)
		rows = append(rows, strings.TrimRight(string(cells[:min(width, len(cells))]), " "))
		if words[0] == "control" {
			break
		}
	}
	if len(rows) != len(excerptContenders)+2 {
		return nil, fmt.Errorf("the transcript of tiny has %d of the excerpt's %d rows", len(rows), len(excerptContenders)+2)
	}
	return []byte(before + excerptBegin + "\n```text\n" + strings.Join(rows, "\n") + "\n```\n\n" + excerptEnd + after), nil
}
