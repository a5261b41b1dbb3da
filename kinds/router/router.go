// Package router is the kind of contenders that find the handler for a request. All contenders get
// the same table of routes and the same requests. They must find the same routes with the same
// values of parameters.
//
// A question is a request with its correct answer. A probe is a question that every router must
// reject. A semantics test (exam in names) sends requests that routers are known to answer
// differently. It compares the answers with those of net/http.ServeMux. For tables that ServeMux
// does not support, the most specific route is correct.
package router

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/pool"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Ops returns the operations that a workload can name: requests in process, and over a socket.
func Ops() []string { return []string{router.OpServe, router.OpSocket} }

// Kind is the router kind. It stores requests with the correct answers.
type Kind struct {
	mu         sync.Mutex
	questions  map[string][]question        // by workloadKey
	userTables []userTable                  // tables of the current study
	texts      map[string]map[string]string // see firstText; by id of the test and group
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

// question is one request with its correct answer. The request was made from a route and values for
// its parameters, so the answer is known without a router.
type question struct {
	wire.HTTPRequest
	answer      router.Answer // not used if mustReject is set
	mustReject  bool          // any status from 400 on is correct
	mayRedirect bool          // a redirect is correct, too, if mustReject is set

	caseName string // name in a semantics test, or ""
	property string // row of the report's table of differences
	group    string // replaces the request in texts; may be ""
	remark   string // unusual property of the path; may be ""
}

func (q question) describeRequest() string {
	switch {
	case q.group != "":
		return q.group
	case q.remark != "":
		return fmt.Sprintf("%s (%s)", q.title(), q.remark)
	}
	return q.title()
}

// Input writes the requests of w into a file in dir, one per line. It returns the workload for
// contenders, with the table of routes in its Spec.
func (k *Kind) Input(w tare.Workload, studyDir, dir string) (wire.Workload, error) {
	input, err := k.makeInput(w, studyDir, dir)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	return input, nil
}

func (k *Kind) makeInput(w tare.Workload, studyDir, dir string) (wire.Workload, error) {
	switch {
	case !slices.Contains(Ops(), w.Op):
		return wire.Workload{}, fmt.Errorf("unknown op %q; a router can %s", w.Op, strings.Join(Ops(), ", "))
	case w.Traffic != nil:
		return wire.Workload{}, fmt.Errorf("a router is asked one request after the other; connections and rates are for servers")
	case w.Fixture != "" && w.Fixture != fixture.RoutesFixture:
		return wire.Workload{}, fmt.Errorf("unknown fixture %q; a router takes %s, or the routes of a file", w.Fixture, fixture.RoutesFixture)
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
	input := wire.Workload{ID: w.ID, Fixture: fixture.RoutesFixture, N: len(routes), Op: w.Op, Heap: w.Heap, Spec: raw}
	if w.File != "" {
		input.Fixture = router.UserFixture
	}
	return k.writeQuestions(dir, input, questions)
}

func formatTable(routes []fixture.Route, layers []string) (json.RawMessage, router.Spec, error) {
	raw, err := router.FormatSpec(routes, layers)
	if err != nil {
		return nil, router.Spec{}, err
	}
	spec, err := router.ParseSpec(raw)
	return raw, spec, err
}

// newRequest returns a request with the headers that a script in a browser sends.
func newRequest(method, path string) wire.HTTPRequest {
	return wire.HTTPRequest{Method: method, Path: path, Header: map[string]string{"Accept": "*/*", "Origin": "https://app.example.com"}}
}

// correctReply returns the reply of route r to a visit, a path with values. It is the index of the
// route and the values, as in "12 id=4711 name=x".
func correctReply(r fixture.Route, v fixture.Visit) string {
	reply, params := strconv.Itoa(v.Route), 0
	for segment := range strings.SplitSeq(r.Path, "/") {
		if _, name, _, ok := fixture.Parameter(segment); ok {
			reply += " " + strings.TrimSuffix(name, "...") + "=" + v.Values[params]
			params++
		}
	}
	return reply
}

// writeQuestions writes the requests of questions into a file of dir, and stores the questions. It
// returns input with the path, the number of requests and the hash of the file.
func (k *Kind) writeQuestions(dir string, input wire.Workload, questions []question) (wire.Workload, error) {
	bodies := make([][]byte, len(questions))
	for i, q := range questions {
		var err error
		if bodies[i], err = json.Marshal(q.HTTPRequest); err != nil {
			return input, err
		}
	}
	written, err := pool.Write(dir, "input-", bodies, 0o644)
	if err != nil {
		return input, fmt.Errorf("write input: %w", err)
	}
	input.Input, input.SHA256, input.Bodies = written.Input, written.SHA256, written.Bodies
	k.mu.Lock()
	k.questions[workloadKey(input)] = questions
	k.mu.Unlock()
	return input, nil
}

// workloadKey returns the key of a workload in Kind.questions. It consists of all that correct
// answers depend on: the requests and the table.
func workloadKey(w wire.Workload) string { return w.SHA256 + string(w.Spec) }

func (k *Kind) questionsOf(w wire.Workload) []question {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.questions[workloadKey(w)]
}

// Describe adds to w the bytes of the requests, the routes, the requests and the different URLs.
func (k *Kind) Describe(w tare.Workload, input wire.Workload) (tare.Workload, error) {
	questions := k.questionsOf(input)
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
	w.N, w.Keys, w.DistinctKeys = input.N, len(questions), len(seen)
	return w, nil
}

// Open starts a process of a contender. It has one processor, because there is one request at a
// time.
func (k *Kind) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	return lab.StartProgram(ctx, p, spec)
}

// Launches returns the ways to run contenders.
func (*Kind) Launches() []tare.Launch { return lab.SpokenLaunches() }

// Compare compares each answer with the correct one, and returns the differences.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	questions := k.questionsOf(w)
	var wrong []string
	for _, a := range answers {
		if a.Case < 0 || a.Case >= len(questions) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not requested", w.ID, a.Case)
		}
		if diff := questions[a.Case].checkAnswer(a); diff != "" {
			wrong = append(wrong, fmt.Sprintf("case %d, %s: %s", a.Case, questions[a.Case].title(), diff))
		}
	}
	return wrong, nil
}

func (q question) checkAnswer(a wire.Answer) string {
	if a.Error != "" {
		return fmt.Sprintf("returned the error %q", a.Error)
	}
	got, err := parseAnswer(a)
	switch {
	case err != nil:
		return err.Error()
	case !q.mustReject:
		return got.Differs(q.answer)
	case q.mayRedirect && isRedirect(got):
		return ""
	case !isRejection(got):
		return fmt.Sprintf("status %d and %q, want a refusal", got.Status, clipText(string(got.Body)))
	}
	return ""
}

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

func clipText(s string) string {
	const maxRunes = 60
	if r := []rune(s); len(r) > maxRunes {
		return string(r[:maxRunes]) + "…"
	}
	return s
}
