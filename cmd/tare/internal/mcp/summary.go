package mcp

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
)

// This file converts documents of tare to replies for an MCP client. A reply has only the rows that a client needs
// to act.

// maxRows is the maximum number of rows of each list in a summary.
const maxRows = 200

// Summary has the parts of a result that a client acts on.
type Summary struct {
	Study       string    `json:"study"`
	Seed        string    `json:"seed"`
	Rounds      int       `json:"rounds"`
	Stopped     string    `json:"stopped" jsonschema:"why it ended: decided, planned, budget, rounds, unanswerable or interrupted"`
	Answer      string    `json:"answer,omitempty"`
	Recommended string    `json:"recommended,omitempty"`
	Verdicts    []Verdict `json:"verdicts,omitempty"`
	Ratios      []Ratio   `json:"ratios,omitempty"`
	Findings    []Finding `json:"findings,omitempty"`
	LeftOut     int       `json:"left_out,omitempty" jsonschema:"rows beyond those that are listed"`
}

// Verdict is the result of a comparison or criterion.
type Verdict struct {
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Verdict   string `json:"verdict" jsonschema:"met, not met, inconclusive or void; empty without a rule"`
	Sentence  string `json:"sentence"`
}

// Ratio is a comparison with its interval.
type Ratio struct {
	Workload  string  `json:"workload"`
	Contender string  `json:"contender"`
	Against   string  `json:"against"`
	Metric    string  `json:"metric"`
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Level     float64 `json:"level" jsonschema:"confidence of the interval"`
}

// Finding reports a problem that a check has detected.
type Finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// Listed describes a stored run.
type Listed struct {
	Run      string    `json:"run" jsonschema:"its name for the tools results and gate_verdict"`
	Study    string    `json:"study"`
	Started  time.Time `json:"started"`
	Rounds   int       `json:"rounds"`
	Stopped  string    `json:"stopped"`
	Verdicts string    `json:"verdicts,omitempty"`
	Imported bool      `json:"imported,omitempty" jsonschema:"it was made elsewhere"`
}

// readResult returns a reply with a summary of each result in document. exit is the exit code of tare.
func readResult(exit int, document []byte) (Reply, error) {
	results, err := history.Parse("result", document)
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{ExitCode: exit}
	for _, r := range results {
		reply.Results = append(reply.Results, newSummary(r))
	}
	return reply, nil
}

// newSummary returns the summary of a result. LeftOut counts the omitted rows.
func newSummary(r *tare.Result) Summary {
	s := Summary{
		Study: r.Study, Seed: r.Seed, Rounds: r.RoundsDone, Stopped: r.Stopped,
		Answer: r.Answer, Recommended: r.Recommended,
	}
	hasRoom := func(rows int) bool {
		if rows >= maxRows {
			s.LeftOut++
		}
		return rows < maxRows
	}
	for _, v := range r.Verdicts {
		if hasRoom(len(s.Verdicts)) {
			s.Verdicts = append(s.Verdicts, Verdict{Workload: v.Workload, Contender: v.Contender, Verdict: string(v.Verdict), Sentence: v.Sentence})
		}
	}
	for _, c := range r.Comparisons {
		if hasRoom(len(s.Ratios)) {
			s.Ratios = append(s.Ratios, Ratio{
				Workload: c.Workload, Contender: c.Contender, Against: c.Against, Metric: c.Metric,
				Ratio: c.Ratio, Low: c.Low, High: c.High, Level: c.Level,
			})
		}
	}
	for _, f := range r.Findings {
		if hasRoom(len(s.Findings)) {
			s.Findings = append(s.Findings, Finding{Check: f.Check, Severity: string(f.Severity), Message: f.Message})
		}
	}
	return s
}

// listRuns returns the newest runs in the document of tare history. dir is the directory of stored results.
func listRuns(dir string, document []byte, limit int) (Reply, error) {
	var rows []struct {
		Listed
		RoundsDone int    `json:"rounds_done"`
		Path       string `json:"path"`
	}
	if err := json.Unmarshal(document, &rows); err != nil {
		return Reply{}, err
	}
	reply := Reply{Runs: []Listed{}}
	for _, row := range rows[:min(limit, len(rows))] {
		row.Rounds = row.RoundsDone
		if name, err := filepath.Rel(dir, row.Path); err == nil {
			row.Run = filepath.ToSlash(name)
		}
		reply.Runs = append(reply.Runs, row.Listed)
	}
	return reply, nil
}

// readGate returns a reply with the document of tare gate, without the long results.
func readGate(exit int, document []byte) (Reply, error) {
	var report map[string]json.RawMessage
	if err := json.Unmarshal(document, &report); err != nil {
		return Reply{}, err
	}
	delete(report, "results")
	withoutResults, err := json.Marshal(report)
	if err != nil {
		return Reply{}, err
	}
	reply, err := readDocument(exit, withoutResults)
	if bytes.Contains(report["outcome"], []byte("nothing")) {
		var sentence string
		if json.Unmarshal(report["sentence"], &sentence) == nil {
			reply.Nothing = strings.TrimSpace(sentence)
		}
	}
	return reply, err
}
