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

// templates lists documents with a template in the syntax of text/template. The template of FILE is FILE.tmpl.
var templates = []string{"docs/claims.md", "docs/results.md"}

// writer fills documents with the measurements of stored runs. It loads each run once.
type writer struct {
	root   string             // top of the repository
	loaded map[string]runData // by the name of the run
}

type runData struct {
	result *tare.Result
	study  tare.Study
}

// writeAll returns the text of each document by its path below root. missing names the runs without a stored
// result. Text about missing runs stays as it is.
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
		if err := w.writeRun(out, r, m.result); err != nil {
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

// writeRun adds the documents about one run to out. They are the transcript (the text report), the page in
// docs/research, and READMEs.
func (w *writer) writeRun(out map[string][]byte, r storedRun, result *tare.Result) (err error) {
	transcript := "docs/transcripts/" + r.name + ".txt"
	out[transcript], err = renderText(func(b *bytes.Buffer) error { return report.Text(b, result, report.Style{}) })
	if err != nil {
		return err
	}
	switch r.name {
	case "tiny":
		out["README.md"], err = w.fillReadme(string(out[transcript]))
	case "ffi":
		out["cgocopy/README.md"], err = w.fillCopiers()
	}
	if err != nil || r.page == "" {
		return err
	}
	// The page names the documents with its omitted parts.
	source := fmt.Sprintf("the [transcript](../transcripts/%s.txt)", r.name)
	if len(result.Claims) > 0 {
		source += ", and each published claim has its row in [claims.md](../claims.md)"
	}
	out["docs/research/"+r.page], err = renderText(func(b *bytes.Buffer) error {
		return report.ResearchWithin(b, result, maxPageWords, source)
	})
	return err
}

// maxPageWords limits the words of a page in docs/research. The title and the list of omissions do not count.
const maxPageWords = 2340

func renderText(write func(*bytes.Buffer) error) ([]byte, error) {
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}

// loadRun returns the stored run called name, or an error that is [fs.ErrNotExist].
func (w *writer) loadRun(name string) (runData, error) {
	if m, ok := w.loaded[name]; ok {
		return m, nil
	}
	r, study, err := loadResult(w.root, name)
	if err != nil {
		return runData{}, err
	}
	w.loaded[name] = runData{result: r, study: study}
	return w.loaded[name], nil
}

// fillTemplate returns the document at path, filled from its template. Parts about missing runs keep their present
// text.
func (w *writer) fillTemplate(path string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(w.root, path+".tmpl"))
	if err != nil {
		return nil, err
	}
	document, err := os.ReadFile(filepath.Join(w.root, path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	present := map[string]string{} // parts of the document by title
	for _, part := range splitParts(string(document)) {
		present[titleOf(part)] = part
	}
	var out bytes.Buffer
	for _, part := range splitParts(string(source)) {
		text, err := w.fillPart(path+".tmpl", part)
		isMissing := errors.Is(err, fs.ErrNotExist)
		if old, ok := present[titleOf(part)]; ok && isMissing {
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

// titleOf returns the text that identifies a part: the first cell of a table row, or the first line.
func titleOf(part string) string {
	first, _, _ := strings.Cut(part, "\n")
	if isRow := strings.HasPrefix(first, "| "); isRow {
		cell, _, _ := strings.Cut(first, " | ")
		return cell
	}
	return first
}

// fillPart fills a part of the template at path. Functions of the template take the name of a stored run first:
// {{claim "tiny" "cpu-share"}}.
func (w *writer) fillPart(path, source string) ([]byte, error) {
	t, err := template.New(path).Option("missingkey=error").Funcs(template.FuncMap{
		"quote":    w.quoteText,
		"claim":    w.claimShare,
		"claims":   w.claimsTable,
		"measured": w.claimRatio,
		"run":      w.describeRun,
		"ruling":   w.rulingOf,
		"count":    func(name string) (int, error) { return w.countEntries(name, anyEntry) },
		"ways":     func(name string) (int, error) { return w.countEntries(name, answersFully) },
		"recommended": func(name string) (string, error) {
			m, err := w.loadRun(name)
			if err != nil {
				return "", err
			}
			return m.result.Recommended, nil
		},
		"verdict": func(name string) (string, error) {
			m, err := w.loadRun(name)
			if err != nil {
				return "", err
			}
			return verdictOf(m.result.Recommended), nil
		},
	}).Parse(source)
	if err != nil {
		return nil, err
	}
	return renderText(func(b *bytes.Buffer) error { return t.Execute(b, nil) })
}

// verdictOf returns the line of a recommendation for a table cell.
func verdictOf(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// quoteText replaces each name in braces by its measurement: {{quote "tiny" "Gin takes {gin-new get-7/c100 cpu}
// the CPU time"}}.
func (w *writer) quoteText(name, text string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	return judge.Quote(m.study, m.result, text)
}

func (w *writer) claimsTable(name string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	text, err := renderText(func(b *bytes.Buffer) error { return report.ClaimsMarkdown(b, m.result) })
	return strings.TrimSpace(string(text)), err
}

// claimRatio returns the measured ratio for a claim, e.g. "0.49× (0.48–0.50)".
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

// claimShare returns the measured share for a claim, e.g. "82 % (80–83 %)".
func (w *writer) claimShare(name, id string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	for _, c := range m.result.Claims {
		if c.ID == id && c.Kind == tare.ClaimShare && c.Low < c.High {
			low, high := strings.TrimSuffix(format.Percent(c.Low), " %"), format.Percent(c.High)
			return fmt.Sprintf("%s (%s)", format.Percent(c.Measured), format.Interval(low, high)), nil
		}
	}
	return "", fmt.Errorf("run %s has no share with an interval for claim %s", name, id)
}

// rulingOf returns the result of a criterion, a limit that the study sets in advance. Contender, workload and
// metric name it: {{ruling "homelab" "gin-new mix/c100 rss"}}.
func (w *writer) rulingOf(name, criterion string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	for _, v := range m.result.Verdicts {
		if v.Criterion != "" && v.Contender+" "+v.Workload+" "+v.Metric == criterion {
			return string(v.Verdict), nil
		}
	}
	return "", fmt.Errorf("run %s has no criterion about %q", name, criterion)
}

func (w *writer) countEntries(name string, selects func(tare.Entry) bool) (n int, err error) {
	m, err := w.loadRun(name)
	for _, e := range m.study.Contenders {
		if selects(e) {
			n++
		}
	}
	return n, err
}

func anyEntry(tare.Entry) bool { return true }

// answersFully selects programs that do all of the work. Traps (deliberate mistakes) and contenders compared by
// status only do not.
func answersFully(e tare.Entry) bool {
	return e.Launch() == tare.LaunchProgram && e.Answers == tare.AnswersWhole && e.Expect.IsZero()
}

// describeRun returns the conditions of a run, e.g. "12 rounds in 148 s, seed 2026, go1.26.8, …".
func (w *writer) describeRun(name string) (string, error) {
	m, err := w.loadRun(name)
	if err != nil {
		return "", err
	}
	r := m.result
	return fmt.Sprintf("%d rounds in %.0f s on %s, seed %s, %s, %d cores, CPU pressure %s",
		r.RoundsDone, r.Seconds, r.Started.UTC().Format("2006-01-02"), r.Seed, r.Machine.Go, r.Machine.Cores, format.Percent(r.Machine.Noise.CPUPressure)), nil
}

const (
	copiersBegin = "<!-- figures of docs/runs/ffi:begin -->\n"
	copiersEnd   = "<!-- figures of docs/runs/ffi:end -->\n"
)

// fillCopiers returns cgocopy/README.md with the times of the run ffi.
func (w *writer) fillCopiers() ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(w.root, "cgocopy", "README.md"))
	if err != nil {
		return nil, err
	}
	before, rest, hasBegin := strings.Cut(string(source), copiersBegin)
	_, after, hasEnd := strings.Cut(rest, copiersEnd)
	if !hasBegin || !hasEnd {
		return nil, errors.New("cgocopy/README.md has no place for the figures of ffi")
	}
	table := "\n| struct | published, its types registered | this module, `Copy` | this module, `FromC` | cgo by hand |\n|---|---|---|---|---|\n"
	for _, row := range []struct{ workload, text string }{
		{"person/single", "a person, new on the heap"},
		{"object/single", "a game object, new on the heap"},
		{"person/value", "a person, into a value"},
		{"object/value", "a game object, into a value"},
	} {
		table += "| " + row.text
		for _, contender := range []string{"original", "cgocopy-copy", "cgocopy", "hand-cgo"} {
			time, err := w.quoteText("ffi", "{"+contender+" "+row.workload+" time}")
			if err != nil {
				return nil, err
			}
			table += " | " + time
		}
		table += " |\n"
	}
	return []byte(before + copiersBegin + table + "\n" + copiersEnd + after), nil
}

const (
	excerptBegin = "<!-- excerpt of docs/transcripts/tiny.txt:begin -->\n"
	excerptEnd   = "<!-- excerpt of docs/transcripts/tiny.txt:end -->\n"
)

var excerptContenders = []string{"fasthttp", "nethttp", "gin-new", "gin-default", "control"}

// fillReadme returns README.md with rows of the first table of the transcript of tiny.
func (w *writer) fillReadme(transcript string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(w.root, "README.md"))
	if err != nil {
		return nil, err
	}
	before, rest, hasBegin := strings.Cut(string(source), excerptBegin)
	_, after, hasEnd := strings.Cut(rest, excerptEnd)
	_, table, hasTable := strings.Cut(transcript, "\nWORKLOAD get-7/c100\n")
	table, _, _ = strings.Cut(table, "\nWORKLOAD ")
	if !hasBegin || !hasEnd || !hasTable {
		return nil, fmt.Errorf("README.md or the transcript of tiny has no place for the excerpt")
	}
	rows, err := excerptRows(table)
	if err != nil {
		return nil, err
	}
	return []byte(before + excerptBegin + "\n```text\n" + strings.Join(rows, "\n") + "\n```\n\n" + excerptEnd + after), nil
}

// excerptRows returns the head of a transcript's table and the rows of excerptContenders, cut after the CPU time.
func excerptRows(table string) ([]string, error) {
	var rows []string
	width := 0
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		isSecondHead := len(rows) == 1 // the line after the head
		isRow := len(words) > 0 && strings.HasPrefix(line, "  ")
		isRemark := strings.HasPrefix(line, "    ") && !isSecondHead
		if !isRow || isRemark {
			continue
		}
		isHead := words[0] == "contender"
		if !isHead && !isSecondHead && !slices.Contains(excerptContenders, words[0]) {
			continue
		}
		line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "  ")
		if isHead {
			width = strings.LastIndex(line, " cpu ") + len(" cpu")
			if !strings.Contains(line, " time ") { // no times in this table: nothing to cut off
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
	return rows, nil
}
