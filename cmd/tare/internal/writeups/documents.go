package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/report"
)

// templates are documents that are written from a file of the same name with
// .tmpl at its end, in the syntax of text/template.
var templates = []string{"docs/claims.md", "docs/results.md"}

// write makes every document, by its path below the repository.
func write(root string) (map[string][]byte, error) {
	w := &writer{root: root, measured: map[string]measured{}}
	out := map[string][]byte{}
	for _, r := range runs {
		m, err := w.of(r.name)
		if err != nil {
			return nil, err
		}
		if out["docs/transcripts/"+r.name+".txt"], err = printed(func(b *bytes.Buffer) error { return report.Text(b, m.result, report.Style{}) }); err != nil {
			return nil, err
		}
		if r.page == "" {
			continue
		}
		if out["docs/research/"+r.page], err = printed(func(b *bytes.Buffer) error { return report.Research(b, m.result) }); err != nil {
			return nil, err
		}
	}
	var err error
	for _, path := range templates {
		if out[path], err = w.fill(path + ".tmpl"); err != nil {
			return nil, err
		}
	}
	out["README.md"], err = w.readme(string(out["docs/transcripts/tiny.txt"]))
	return out, err
}

func printed(to func(*bytes.Buffer) error) ([]byte, error) {
	var b bytes.Buffer
	err := to(&b)
	return b.Bytes(), err
}

// writer reads each kept run once.
type writer struct {
	root     string
	measured map[string]measured
}

type measured struct {
	result *tare.Result
	study  tare.Study
}

func (w *writer) of(name string) (measured, error) {
	if m, ok := w.measured[name]; ok {
		return m, nil
	}
	r, study, err := load(w.root, name)
	if err != nil {
		return measured{}, err
	}
	w.measured[name] = measured{r, study}
	return w.measured[name], nil
}

// fill executes a template. Its functions take the name of a kept run first.
func (w *writer) fill(path string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(w.root, path))
	if err != nil {
		return nil, err
	}
	t, err := template.New(path).Option("missingkey=error").Funcs(template.FuncMap{
		"quote":  w.quote,
		"claim":  w.claim,
		"claims": w.claims,
		"run":    w.run,
	}).Parse(string(source))
	if err != nil {
		return nil, err
	}
	return printed(func(b *bytes.Buffer) error { return t.Execute(b, nil) })
}

// quote is text with the figures that it names in braces, as answers of studies
// have them: {{quote "tiny" "Gin takes {gin-new get-7/c100 cpu} the CPU time"}}.
func (w *writer) quote(name, text string) (string, error) {
	m, err := w.of(name)
	if err != nil {
		return "", err
	}
	return judge.Quote(m.study, m.result, text)
}

// claims is the table of a run's claims.
func (w *writer) claims(name string) (string, error) {
	m, err := w.of(name)
	if err != nil {
		return "", err
	}
	text, err := printed(func(b *bytes.Buffer) error { return report.ClaimsMarkdown(b, m.result) })
	return strings.TrimSpace(string(text)), err
}

// claim is what a run measured of a claim of a share: "82 % (80 % to 83 %)".
func (w *writer) claim(name, id string) (string, error) {
	m, err := w.of(name)
	if err != nil {
		return "", err
	}
	for _, c := range m.result.Claims {
		if c.ID == id && c.Kind == tare.ClaimShare && c.Low < c.High {
			return fmt.Sprintf("%s (%s to %s)", format.Percent(c.Measured), format.Percent(c.Low), format.Percent(c.High)), nil
		}
	}
	return "", fmt.Errorf("run %s has no share with an interval for claim %s", name, id)
}

// run says what a run was: "12 rounds in 148 s, seed 2026, go1.26.8, …".
func (w *writer) run(name string) (string, error) {
	m, err := w.of(name)
	if err != nil {
		return "", err
	}
	r := m.result
	return fmt.Sprintf("%d rounds in %.0f s on %s, seed %s, %s, %d cores, CPU pressure %s",
		r.RoundsDone, r.Seconds, r.Started.UTC().Format("2006-01-02"), r.Seed, r.Machine.Go, r.Machine.Cores, format.Percent(r.Machine.Noise.CPUPressure)), nil
}

// The excerpt of README.md stands between these lines.
const (
	excerptBegin = "<!-- excerpt of docs/transcripts/tiny.txt:begin -->\n"
	excerptEnd   = "<!-- excerpt of docs/transcripts/tiny.txt:end -->\n"
)

// excerpted are the contenders of the excerpt.
var excerpted = []string{"fasthttp", "nethttp", "gin-new", "gin-default", "control"}

// readme is README.md with the excerpt of the study tiny: rows of the table of its
// first workload, word for word.
func (w *writer) readme(transcript string) ([]byte, error) {
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
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(line, "  ") {
			continue
		}
		head := words[0] == "contender" || len(rows) == 1 && words[0] == "ratio"
		for _, id := range excerpted {
			head = head || words[0] == id && !strings.HasPrefix(line, "    ")
		}
		if head {
			rows = append(rows, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
		}
	}
	if len(rows) != len(excerpted)+2 {
		return nil, fmt.Errorf("the transcript of tiny has %d of the excerpt's %d rows", len(rows), len(excerpted)+2)
	}
	return []byte(before + excerptBegin + "\n```text\n" + strings.Join(rows, "\n") + "\n```\n\n" + excerptEnd + after), nil
}
