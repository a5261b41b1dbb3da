package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

func TestInputs(t *testing.T) {
	k := New()
	for op, want := range map[string]struct {
		bodies int
		length int // of an id as it is answered; zero: not looked at
	}{"get-7": {1, 1}, "get-random": {64, 8}, "get-escaped": {64, 13}, "get-long": {64, 64}, "health": {1, 0}} {
		w := tinyWorkload(op, 0)
		in := inputOf(t, k, w)
		if in.Bodies != want.bodies || in.ID != w.ID || in.Op != op || in.Fixture != "tiny" || len(in.SHA256) != 64 {
			t.Errorf("%s: %+v", op, in)
		}
		src, err := os.ReadFile(in.Input)
		if err != nil {
			t.Fatal(err)
		}
		list, err := parseRequests(src)
		if err != nil || len(list) != in.Bodies {
			t.Fatalf("%s: %d requests, %v", op, len(list), err)
		}
		for _, q := range list {
			r := answersOf(t, "tiny", q)[0]
			var got struct{ ID string }
			if r.Status != 200 || want.length > 0 && (json.Unmarshal(r.Body, &got) != nil || len(got.ID) != want.length) {
				t.Errorf("%s: %s is answered %d %s", op, q.Path, r.Status, r.Body)
			}
			for _, part := range []string{" ", "%", "é", `"`} {
				if op == "get-escaped" && strings.Count(got.ID, part) != 1 || strings.Contains(strings.ToLower(q.Path), "%2f") {
					t.Errorf("%s: id %q of %s", op, got.ID, q.Path)
				}
			}
		}
		described, err := k.Describe(w, in)
		if err != nil || described.Keys != want.bodies || described.DistinctKeys != want.bodies || described.Bytes != 0 {
			t.Errorf("%s: %+v, %v", op, described, err)
		}
		again := inputOf(t, New(), w)
		if again.SHA256 != in.SHA256 {
			t.Errorf("%s: another pool each time", op)
		}
		var s spec
		if err := json.Unmarshal(in.Spec, &s); err != nil || s.App != "tiny" || s.Traffic.Connections != 5 || s.Own {
			t.Errorf("%s: spec %s, %v", op, in.Spec, err)
		}
	}
	if in := inputOf(t, k, tinyWorkload("get-random", 1)); in.Bodies != 1 {
		t.Errorf("seed mode has %d requests", in.Bodies)
	}
	if in := inputOf(t, k, tinyWorkload("get-escaped", 1000)); in.Bodies != 1000 {
		t.Errorf("%d requests of 1000", in.Bodies)
	}
}

func TestInputRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	traffic := &tare.Traffic{Connections: 1}
	sparse := file("sparse", "")
	if err := os.Truncate(filepath.Join(dir, sparse), maxFile+1); err != nil {
		t.Fatal(err)
	}
	for want, w := range map[string]tare.Workload{
		"needs traffic":                      {ID: "w", Fixture: "tiny", Op: "health"},
		`unknown fixture "huge"`:             {ID: "w", Fixture: "huge", Op: "health", Traffic: traffic},
		`unknown op "get-8"; tiny can`:       {ID: "w", Fixture: "tiny", Op: "get-8", Traffic: traffic},
		"a pool of 200000 requests":          {ID: "w", Fixture: "tiny", Op: "get-long", Pool: 200000, Traffic: traffic},
		"no such file":                       {ID: "w", File: "none", Op: OpRequests, Traffic: traffic},
		"not a file of at most":              {ID: "w", File: ".", Op: OpRequests, Traffic: traffic},
		`unknown op "send"; with a file it `: {ID: "w", File: file("good", `{"path":"/"}`), Op: "send", Traffic: traffic},
		"not a file of at most 1073741824":   {ID: "w", File: sparse, Op: OpRequests, Traffic: traffic},
		"bad:2: not a request":               {ID: "w", File: file("bad", "{\"path\":\"/\"}\n{"), Op: OpRequests, Traffic: traffic},
		"empty: no requests":                 {ID: "w", File: file("empty", "\n\n"), Op: OpRequests, Traffic: traffic},
	} {
		_, err := New().Input(w, dir, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `workload "w": `) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", w, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	list, err := parseRequests([]byte("{\"path\":\"/a?b=c\"}\n\n {\"method\":\"POST\",\"path\":\"/\",\"header\":{\"X-A\":\"1\"},\"body\":\"aGk=\"} \r\n"))
	want := []Request{{Method: "GET", Path: "/a?b=c"}, {Method: "POST", Path: "/", Header: map[string]string{"X-A": "1"}, Body: []byte("hi")}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("got %+v, %v", list, err)
	}
	for line, want := range map[string]string{
		`{"path":"/"} 7`:                      "something follows",
		`{"path":"/","verb":"GET"}`:           "unknown field",
		`{"path":"a"}`:                        "does not begin with a slash",
		`{}`:                                  "does not begin with a slash",
		`{"path":"/a b"}`:                     "escape it",
		`{"path":"/","method":"G T"}`:         "is not a method",
		`{"path":"/","header":{"a b":"c"}}`:   "is not the name of a header",
		`{"path":"/","header":{"a":"\r\nb"}}`: "more than one line",
		`[1]`:                                 "not a request",
	} {
		_, err := parseRequests([]byte("{\"path\":\"/\"}\n" + line))
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// What reads is one request, whatever it is made of, and reads again the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"method":"GET","path":"/v1/id/7"}`))
	f.Add([]byte(`{"method":"POST","path":"/","header":{"Content-Type":"text/plain"},"body":"aGk="}` + "\n{}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		list, err := parseRequests(src)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") && !strings.ContainsAny(string(src), "\n\r") {
				t.Errorf("an error of more than one line: %q", err)
			}
			return
		}
		for _, r := range list {
			sent := string(encodeRequest(r, "", loadTarget()))
			head, _, _ := strings.Cut(sent, "\r\n\r\n")
			lines := strings.Split(head, "\r\n")
			if strings.Count(lines[0], " ") != 2 || len(lines) > len(r.Header)+3 {
				t.Fatalf("%+v is sent as %q", r, sent)
			}
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := parseRequests(line); err != nil || len(again) != 1 || string(encodeRequest(again[0], "", loadTarget())) != sent {
				t.Fatalf("%s reads again as %+v, %v", line, again, err)
			}
		}
	})
}

func answerOf(t *testing.T, i int, r Response) wire.Answer {
	t.Helper()
	out, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Answer{Case: i, Output: out}
}

func ofType(status int, kind, body string) Response {
	return Response{Status: status, Header: map[string]string{ContentType: kind}, Body: []byte(body)}
}

func TestCompare(t *testing.T) {
	k := New()
	in := inputOf(t, k, tinyWorkload("get-7", 0))
	for want, r := range map[string]Response{
		"":                         ofType(200, "application/json", "{\"id\":\"7\"}\n"),
		"want status 200, got 404": {Status: 404},
		`want content type "application/json", got "text/plain"`: ofType(200, "text/plain", "{\"id\":\"7\"}\n"),
		`want body "{\"id\":\"7\"}\n", got "{\"id\":\"7\"}"`:     ofType(200, "application/json", `{"id":"7"}`),
		`want content type "application/json", got ""`:           {Status: 200, Body: []byte("{\"id\":\"7\"}\n")},
	} {
		wrong, err := k.Compare(in, []wire.Answer{answerOf(t, 0, r)})
		if err != nil || strings.Join(wrong, "|") != strings.TrimSuffix("case 0, GET /v1/id/7: "+want, "case 0, GET /v1/id/7: ") {
			t.Errorf("%+v: %q, %v, want %q", r, wrong, err, want)
		}
	}
	if wrong, err := k.Compare(in, []wire.Answer{{Error: "connection reset by peer"}}); err != nil || len(wrong) != 1 || !strings.Contains(wrong[0], "no answer: connection reset") {
		t.Errorf("no answer: %q, %v", wrong, err)
	}
	for _, bad := range []wire.Answer{{Case: 1}, {Case: -1}, {Output: []byte("{")}} {
		if _, err := k.Compare(in, []wire.Answer{bad}); err == nil {
			t.Errorf("%+v was compared", bad)
		}
	}
	if _, err := New().Compare(in, nil); err == nil {
		t.Error("compared with requests that were not made here")
	}
}

// To a user's own requests there is no reference.
func TestCompareOwn(t *testing.T) {
	k := New()
	path := filepath.Join(t.TempDir(), "mine.ndjson")
	if err := os.WriteFile(path, []byte(`{"path":"/v1/id/7"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	w := tare.Workload{ID: "mine", File: path, Op: OpRequests, Traffic: &tare.Traffic{Connections: 1}}
	in := inputOf(t, k, w)
	for status, right := range map[int]bool{200: true, 204: true, 301: true, 399: true, 400: false, 404: false, 500: false} {
		wrong, err := k.Compare(in, []wire.Answer{answerOf(t, 0, Response{Status: status, Body: []byte("anything")})})
		if err != nil || (len(wrong) == 0) != right {
			t.Errorf("%d: %q, %v", status, wrong, err)
		}
	}
	if d, err := k.Describe(w, in); err != nil || d.Keys != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if probes, err := k.Probes(t.TempDir(), []wire.Workload{in}); err != nil || len(probes) > 0 {
		t.Errorf("probes %v, %v", probes, err)
	}
}

func TestProbes(t *testing.T) {
	k := New()
	dir := t.TempDir()
	works := []wire.Workload{inputOf(t, k, tinyWorkload("get-7", 0)), inputOf(t, k, tinyWorkload("health", 0))}
	probes, err := k.Probes(dir, works)
	if err != nil || len(probes) != 1 || probes[0].ID != "tiny/probes" || probes[0].Bodies != len(served["tiny"].Probes()) {
		t.Fatalf("%+v, %v", probes, err)
	}
	var right, accepted []wire.Answer
	statuses := map[int]int{}
	for i, q := range requestsOf(served["tiny"].Probes()) {
		r := answersOf(t, "tiny", q)[0]
		statuses[r.Status]++
		r.Body = []byte("whatever") // of a refusal counts for nothing
		right = append(right, answerOf(t, i, r))
		accepted = append(accepted, answerOf(t, i, ofType(200, "text/plain", "ok")))
	}
	if statuses[404] < 3 || statuses[405] < 3 || statuses[404]+statuses[405] != len(served["tiny"].Probes()) {
		t.Errorf("probes are answered %v", statuses)
	}
	if wrong, err := k.Compare(probes[0], right); err != nil || len(wrong) > 0 {
		t.Errorf("%q, %v", wrong, err)
	}
	if wrong, err := k.Compare(probes[0], accepted); err != nil || len(wrong) != len(accepted) {
		t.Errorf("%d of %d are wrong, %v", len(wrong), len(accepted), err)
	}
}

func TestExams(t *testing.T) {
	k := New()
	dir := t.TempDir()
	if _, err := k.Input(tinyWorkload("get-7", 0), dir, dir); err != nil {
		t.Fatal(err)
	}
	if exams, err := k.Exams(t.TempDir()); err != nil || len(exams) > 0 {
		t.Errorf("exams of a study without apps: %v, %v", exams, err)
	}
	exams, err := k.Exams(dir)
	if err != nil || len(exams) != 1 {
		t.Fatalf("%+v, %v", exams, err)
	}
	seen := map[string]bool{}
	byName := map[string]int{}
	for i, q := range served["tiny"].Questions() {
		if seen[q.Name] || q.Property == "" || q.What == "" || len(q.BearsOn) == 0 || len(q.Property) > 25 {
			t.Errorf("question %+v", q)
		}
		seen[q.Name], byName[q.Name] = true, i
		for _, op := range q.BearsOn {
			if !slices.Contains(served["tiny"].Ops, op) {
				t.Errorf("%s bears on %s", q.Name, op)
			}
		}
		if d, ok := k.Differ(exams[0], answerOf(t, i, answersOf(t, "tiny", q.Request)[0])); ok {
			t.Errorf("the reference differs from itself: %+v", d)
		}
	}
	for _, c := range []struct {
		name  string
		a     Response
		class tare.DifferenceClass
		says  string
	}{
		{"escaped slash", Response{Status: 404}, tare.DiffersInAcceptance, "answers 404 to an id with an escaped slash, not 200"},
		{"last slash more", Response{Status: 301}, tare.DiffersInForm, "answers 301 to an id with a slash behind it, not 404"},
		{"last slash more", ofType(200, "application/json", "{\"id\":\"7\"}\n"), tare.DiffersInAcceptance, "answers 200 to an id with a slash behind it, not 404"},
		{"plus", ofType(200, "application/json", "{\"id\":\"a b\"}\n"), tare.DiffersInValue, `answers {"id":"a b"} to an id with a plus sign`},
		{"markup", ofType(200, "application/json", "{\"id\":\"<b>&\"}\n"), tare.DiffersInForm, `writes an id with <, > and & as {"id":"<b>&"}`},
		{"broken escape", Response{Status: 404}, tare.DiffersInForm, "answers 404 to an id with a broken escape, not 400"},
	} {
		d, ok := k.Differ(exams[0], answerOf(t, byName[c.name], c.a))
		if !ok || d.Class != c.class || d.Says != c.says || d.Case != c.name || d.Op != OpExam || d.Reference == "" || d.Got == "" || d.Asked == "" {
			t.Errorf("%s: %v %+v", c.name, ok, d)
		}
	}
	d, ok := k.Differ(exams[0], wire.Answer{Case: 0, Error: "the process ended: exit"})
	if !ok || d.Says != "does not answer an id with an escaped slash" || !strings.Contains(d.Got, "the process ended") {
		t.Errorf("%v %+v", ok, d)
	}
	if _, ok := k.Differ(exams[0], wire.Answer{Case: 1000}); ok {
		t.Error("an answer to no question differs")
	}
}
