// Package router tests how contenders find the handler for a request: every one is built from the
// same table of routes, gets the same requests and must find the same route with the same
// parameters.
package router

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Ops returns the operations a router workload can name.
func Ops() []string { return []string{router.OpServe, router.OpSocket} }

// Kind is the router kind. It stores the requests of each workload, with the correct answers.
type Kind struct {
	mu         sync.Mutex
	questions  map[string][]question        // by input and table
	userTables []userTable                  // each user's table in the current study
	texts      map[string]map[string]string // texts about the current contender, by exam and form
}

var (
	_ lab.Describer = (*Kind)(nil)
	_ lab.Prober    = (*Kind)(nil)
	_ lab.Examiner  = (*Kind)(nil)
)

// New returns the router kind.
func New() *Kind {
	return &Kind{questions: map[string][]question{}, texts: map[string]map[string]string{}}
}

// question is one request with its correct answer. The answer follows from how the request was
// made, without any router.
type question struct {
	wire.HTTPRequest
	answer    router.Answer
	refused   bool // there is none: any rejection is correct
	elsewhere bool // and so is being sent elsewhere

	caseName string // name of the case in an exam; "" if it is in none
	property string // row of the table that people read
	group    string // the group it belongs to, if many are reported as one
	remark   string // what is odd about the path, if paths of this form are reported by the first of them
}

// describeRequest returns the request for a sentence.
func (q question) describeRequest() string {
	switch {
	case q.group != "":
		return q.group
	case q.remark != "":
		return fmt.Sprintf("%s (%s)", q.title(), q.remark)
	}
	return q.title()
}

// Input writes the requests of w, one per line, into dir.
func (k *Kind) Input(w tare.Workload, studyDir, dir string) (wire.Workload, error) {
	in, err := k.makeInput(w, studyDir, dir)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	return in, nil
}

func (k *Kind) makeInput(w tare.Workload, studyDir, dir string) (wire.Workload, error) {
	switch {
	case !slices.Contains(Ops(), w.Op):
		return wire.Workload{}, fmt.Errorf("unknown op %q; a router can be asked to %s", w.Op, strings.Join(Ops(), ", "))
	case w.Traffic != nil:
		return wire.Workload{}, fmt.Errorf("a router is asked one request after the other; connections and rates are for servers")
	case w.Fixture != "" && w.Fixture != fixture.RoutesFixture:
		return wire.Workload{}, fmt.Errorf("unknown fixture %q; a router can be asked for %s, or for the routes of a file", w.Fixture, fixture.RoutesFixture)
	}
	routes, layers, err := loadTable(w, studyDir)
	if err != nil {
		return wire.Workload{}, err
	}
	raw, spec, err := formatTable(routes, layers)
	if err != nil {
		return wire.Workload{}, err
	}
	questions, err := makeQuestions(w, routes, spec)
	if err != nil {
		return wire.Workload{}, err
	}
	in := wire.Workload{ID: w.ID, Fixture: fixture.RoutesFixture, N: len(routes), Op: w.Op, Heap: w.Heap, Spec: raw}
	if w.File != "" {
		in.Fixture = router.UserFixture
	}
	return k.writeQuestions(dir, in, questions)
}

// formatTable returns a table as contenders get it, and as they read it.
func formatTable(routes []fixture.Route, layers []string) (json.RawMessage, router.Spec, error) {
	raw, err := router.FormatSpec(routes, layers)
	if err != nil {
		return nil, router.Spec{}, err
	}
	spec, err := router.ParseSpec(raw)
	return raw, spec, err
}

// newRequest returns a request like that of a browser's script.
func newRequest(method, path string) wire.HTTPRequest {
	return wire.HTTPRequest{Method: method, Path: path, Header: map[string]string{"Accept": "*/*", "Origin": "https://app.example.com"}}
}

// correctReply returns the reply that the route must write for a visit.
func correctReply(r fixture.Route, v fixture.Visit) string {
	text, next := strconv.Itoa(v.Route), 0
	for segment := range strings.SplitSeq(r.Path, "/") {
		if strings.HasPrefix(segment, "{") {
			text += " " + strings.TrimSuffix(strings.Trim(segment, "{}"), "...") + "=" + v.Values[next]
			next++
		}
	}
	return text
}

// writeQuestions writes the questions into a file of dir, which is named by its content, and
// retains them.
func (k *Kind) writeQuestions(dir string, in wire.Workload, questions []question) (wire.Workload, error) {
	bodies := make([][]byte, len(questions))
	for i, q := range questions {
		var err error
		if bodies[i], err = json.Marshal(q.HTTPRequest); err != nil {
			return in, err
		}
	}
	file := fixture.File(bodies)
	sum := sha256.Sum256(file)
	in.SHA256, in.Bodies = hex.EncodeToString(sum[:]), len(bodies)
	in.Input = filepath.Join(dir, "input-"+in.SHA256[:12]+".ndjson")
	if err := os.WriteFile(in.Input, file, 0o644); err != nil {
		return in, fmt.Errorf("write input: %w", err)
	}
	k.mu.Lock()
	k.questions[workloadKey(in)] = questions
	k.mu.Unlock()
	return in, nil
}

// workloadKey distinguishes workloads with different answers: the same requests may be for another
// table, or pass more layers.
func workloadKey(w wire.Workload) string { return w.SHA256 + string(w.Spec) }

func (k *Kind) questionsOf(w wire.Workload) []question {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.questions[workloadKey(w)]
}

// Describe counts what is in the pool that Input made: its keys are URLs.
func (k *Kind) Describe(w tare.Workload, in wire.Workload) (tare.Workload, error) {
	questions := k.questionsOf(in)
	seen := map[string]bool{}
	w.Bytes = 0
	for _, q := range questions {
		body, err := json.Marshal(q.HTTPRequest)
		if err != nil {
			return w, err
		}
		w.Bytes += int64(len(body))
		seen[q.Method+" "+q.Path] = true
	}
	w.N, w.Keys, w.DistinctKeys = in.N, len(questions), len(seen)
	return w, nil
}

// Open starts one trial: one request after the other is one processor's work.
func (k *Kind) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	return lab.StartProgram(ctx, p, spec)
}

// Launches returns the ways to run contenders.
func (*Kind) Launches() []tare.Launch { return lab.SpokenLaunches() }

// Compare compares each answer with the correct one, or checks that a request without a route was
// rejected, in any way.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	questions := k.questionsOf(w)
	var wrong []string
	for _, a := range answers {
		if a.Case < 0 || a.Case >= len(questions) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not asked", w.ID, a.Case)
		}
		if diff := questions[a.Case].checkAnswer(a); diff != "" {
			wrong = append(wrong, fmt.Sprintf("case %d, %s: %s", a.Case, questions[a.Case].title(), diff))
		}
	}
	return wrong, nil
}

// checkAnswer returns what is wrong with an answer, or "".
func (q question) checkAnswer(a wire.Answer) string {
	if a.Error != "" {
		return fmt.Sprintf("returned the error %q", a.Error)
	}
	got, err := parseAnswer(a)
	switch {
	case err != nil:
		return err.Error()
	case !q.refused:
		return got.Differs(q.answer)
	case q.elsewhere && isRedirect(got):
	case got.Status < 400:
		return fmt.Sprintf("status %d and %q, want a refusal", got.Status, clipText(string(got.Body)))
	}
	return ""
}

// title returns the request in the usual notation.
func (q question) title() string {
	if q.Method == "GET" {
		return clipText(q.Path)
	}
	return q.Method + " " + clipText(q.Path)
}

func parseAnswer(a wire.Answer) (router.Answer, error) {
	var got router.Answer
	if err := json.Unmarshal(a.Output, &got); err != nil {
		return got, fmt.Errorf("the answer is not one: %w", err)
	}
	return got, nil
}

// clipText shortens a text for a line of a report.
func clipText(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
