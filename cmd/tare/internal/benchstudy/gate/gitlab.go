package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
)

// codeQualityIssue is an entry of GitLab's code quality report
// (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format).
type codeQualityIssue struct {
	Description string        `json:"description"`
	CheckName   string        `json:"check_name"`
	Fingerprint string        `json:"fingerprint"`
	Severity    string        `json:"severity"`
	Location    issueLocation `json:"location"`
}

type issueLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// WriteCodeQuality writes a code quality report for GitLab. Each entry needs a file: tare.yaml or
// go.mod if it has none.
func WriteCodeQuality(w io.Writer, rep Report) error {
	issues := []codeQualityIssue{}
	add := func(check, subject, text, severity string, place Place) {
		// GitLab recognises an entry of an earlier report by its fingerprint.
		sum := sha256.Sum256([]byte(strings.Join([]string{check, subject}, "\x00")))
		issue := codeQualityIssue{Description: text, CheckName: "tare gate: " + check, Fingerprint: hex.EncodeToString(sum[:16]), Severity: severity}
		issue.Location.Path, issue.Location.Lines.Begin = cmp.Or(place.File, rep.configFile, "go.mod"), max(1, place.Line)
		issues = append(issues, issue)
	}
	levels := map[string]string{"error": "major", "warning": "minor", "notice": "info"}
	for _, r := range rep.Rows {
		if severity := rowSeverity(r, rep); severity != "" {
			subject := strings.TrimSpace(r.Benchmark + " " + r.Metric + " " + r.Machine)
			add(rep.rowVerdict(r), subject, rep.rowTitle(r)+": "+r.Sentence, levels[severity], Place{r.File, r.Line})
		}
	}
	for _, entry := range rep.Skipped {
		if severity := rep.skippedSeverity(entry); severity != "" {
			add("not compared", entry.What, rep.shortName(entry.What)+": "+entry.Why, levels[severity], Place{})
		}
	}
	for _, r := range rep.Remarks {
		if r.Severity == SeverityError || r.Severity == SeverityWarning {
			add(r.Severity, r.Text, r.Text, levels[r.Severity], r.Place)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}
