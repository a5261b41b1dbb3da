package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/annotation"
	"github.com/tarebench/tare/report"
)

// Schema is the schema of a [Document].
const Schema = "tare.audit/1"

// Document is the JSON document of "tare audit --json".
type Document struct {
	Schema   string    `json:"schema"`
	Read     []string  `json:"read"`     // e.g. "24 benchmarks in 3 files"
	Notes    []string  `json:"notes"`    // on input that was not read completely
	Findings []Finding `json:"findings"` // sorted by file and line
}

// CountSeverity counts the findings of a severity.
func (d Document) CountSeverity(s tare.Severity) int {
	n := 0
	for _, f := range d.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// WriteAnnotations writes the findings as workflow commands of GitHub Actions.
func (d Document) WriteAnnotations(w io.Writer) error {
	commands := map[tare.Severity]string{tare.Void: "error", tare.Warn: "warning", tare.Note: "notice"}
	var list []annotation.Annotation
	for _, f := range report.LegibleAll(d.Findings) {
		a := annotation.Annotation{
			Command: commands[f.Severity],
			Title:   "tare audit: " + f.Rule,
			Text:    fmt.Sprintf("%s. %s Do: %s. Measure: %s", f.What, f.Why, f.Do, f.Command),
			Line:    f.Line,
		}
		if f.File != "-" {
			a.File = filepath.ToSlash(f.File)
		}
		list = append(list, a)
	}
	return annotation.Write(w, list)
}

// These are the parts of SARIF 2.1.0 for a log of findings. Source:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string      `json:"id"`
		Short         sarifText   `json:"shortDescription"`
		Full          sarifText   `json:"fullDescription"`
		Help          sarifText   `json:"help"`
		Configuration sarifConfig `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Index     int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
)

// WriteSARIF writes the findings and all rules as a SARIF log. It omits columns: SARIF counts them
// in characters, and findings in bytes.
func (d Document) WriteSARIF(w io.Writer, rules []Rule) error {
	levels := map[tare.Severity]string{tare.Void: "error", tare.Warn: "warning", tare.Note: "note"}
	driver := sarifDriver{
		Name:           "tare audit",
		InformationURI: "https://github.com/tarebench/tare",
		Rules:          []sarifRule{}, // an empty array, not null
	}
	for _, r := range rules {
		driver.Rules = append(driver.Rules, sarifRule{
			ID:            r.ID,
			Short:         sarifText{r.Title},
			Full:          sarifText{r.Why},
			Help:          sarifText{r.Do + ": " + r.Command},
			Configuration: sarifConfig{levels[r.Severity]},
		})
	}
	results := []sarifResult{}
	for _, f := range report.LegibleAll(d.Findings) {
		result := sarifResult{
			Rule:    f.Rule,
			Index:   slices.IndexFunc(rules, func(r Rule) bool { return r.ID == f.Rule }),
			Level:   levels[f.Severity],
			Message: sarifText{fmt.Sprintf("%s. Do: %s. Measure: %s", f.What, f.Do, f.Command)},
		}
		if f.File != "" && f.File != "-" {
			location := sarifPhysical{Artifact: sarifArtifact{fileURI(f.File)}}
			if f.Line > 0 {
				location.Region = &sarifRegion{f.Line}
			}
			result.Locations = []sarifLocation{{location}}
		}
		results = append(results, result)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{Tool: sarifTool{driver}, Results: results}},
	})
}

func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") { // C:/…
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}
