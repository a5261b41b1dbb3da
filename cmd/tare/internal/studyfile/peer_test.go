package studyfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// besides is a study with programs of somebody else's in it.
const besides = `study: ingest
kinds: [server]
baseline: nethttp
contenders:
  - nethttp
  - {id: parse, use: ablation-parse, answers: status}
  - id: fluentd
    command: [fluentd, -c, $DIR/fluent.conf]
    requires: fluentd
    path: /ingest
    delivers: $DIR/out*.log
    answers: status
    files:
      fluent.conf: |
        <source>
          port $PORT
        </source>
      extra_1.txt: 'a: b'
  - {id: theirs, url: 'http://127.0.0.1:8080', answers: status}
workloads:
  - {id: ten, fixture: events, n: 10, op: events, connections: 50}
  - {id: ended, fixture: events, n: 10, op: stop, connections: 50, segment: 5s, contenders: [parse]}
metrics: [cpu, stop]
criteria:
  - {workload: ended, metric: stop, value: "<= 5s"}
  - {contender: fluentd, workload: ten, metric: cpu, ratio: ">= 2"}
`

func TestPeers(t *testing.T) {
	got, err := Parse("dir/s.yaml", []byte(besides))
	if err != nil {
		t.Fatal(err)
	}
	want := []tare.Entry{
		{ID: "nethttp"},
		{ID: "parse", Use: "ablation-parse", Answers: tare.AnswersStatus},
		{
			ID: "fluentd", Command: []string{"fluentd", "-c", "$DIR/fluent.conf"}, Requires: []string{"fluentd"}, Path: "/ingest", Delivers: "$DIR/out*.log", Answers: tare.AnswersStatus,
			Files: map[string]string{"fluent.conf": "<source>\n  port $PORT\n</source>\n", "extra_1.txt": "a: b"},
		},
		{ID: "theirs", URL: "http://127.0.0.1:8080", Answers: tare.AnswersStatus},
	}
	if !reflect.DeepEqual(got.Contenders, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got.Contenders, want)
	}
	if w := got.Workloads[1]; w.Op != tare.OpStop || !reflect.DeepEqual(w.Contenders, []string{"parse"}) || got.Criteria[0].Metric != "stop" {
		t.Errorf("workload %+v, criterion %+v", w, got.Criteria[0])
	}
}

// Each case replaces one text of the study and says what comes of it.
func TestPeerErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"requires: fluentd", "requires: {a: b}", "s.yaml:9:15: contenders[2].requires[0] is a mapping, not text; names of programs as one would type them, e.g. requires: [fluentd]"},
		{"requires: fluentd", "requires: [fluentd, 7]", "s.yaml:9:25: contenders[2].requires[1] is a number, not text; names of programs"},
		{"requires: fluentd", "requires: /usr/bin/fluentd", `s.yaml:9:15: "/usr/bin/fluentd" cannot be the name of a program; names of programs`},
		{"requires: fluentd", "requires: ''", `s.yaml:9:15: "" cannot be the name of a program`},
		{"requires: fluentd", "requires: [ruby, fluentd, ruby]", `s.yaml:9:31: "ruby" is listed twice`},
		{"path: /ingest", "path: ingest", `s.yaml:10:11: "ingest" cannot be what paths begin with; what every path begins with: a slash first and none last, e.g. /ingest`},
		{"path: /ingest", "path: /ingest/", `s.yaml:10:11: "/ingest/" cannot be what paths begin with`},
		{"path: /ingest", "path: /", `s.yaml:10:11: "/" cannot be what paths begin with`},
		{"path: /ingest", "path: /a?b=c", `s.yaml:10:11: "/a?b=c" cannot be what paths begin with`},
		{"path: /ingest", "path: 7", "s.yaml:10:11: contenders[2].path is a number, not text; what every path begins with"},
		{"delivers: $DIR/out*.log", "delivers: ' '", `s.yaml:11:15: " " is no pattern of files; a pattern of the files it delivers to, an item a line, e.g. $DIR/out*.log`},
		{"delivers: $DIR/out*.log", "delivers: [a, b]", "s.yaml:11:15: contenders[2].delivers is a list, not text; a pattern of the files"},
		{"    answers: status\n", "    answers: whole\n", `s.yaml:12:14: unknown answers "whole"; known: status; omit it for complete answers`},
		{"    answers: status\n", "    answers:\n", `s.yaml:12:13: contenders[2].answers is empty, not text; known: status`},
		{"      fluent.conf: |", "      conf/fluent.conf: |", "s.yaml:14:7: a key of files is the name of a file; letters, digits, - . and _, not a dot first, e.g. fluent.conf"},
		{"      fluent.conf: |", "      .fluent: |", "s.yaml:14:7: a key of files is the name of a file"},
		{"extra_1.txt: 'a: b'", "extra_1.txt: 7", "s.yaml:18:20: contenders[2].files.extra_1.txt is a number, not text; a text for each name"},
		{"extra_1.txt: 'a: b'", "extra_1.txt: [a]", "s.yaml:18:20: contenders[2].files.extra_1.txt is a list, not text"},
		{"extra_1.txt: 'a: b'", "extra_1.txt:", "s.yaml:18:19: contenders[2].files.extra_1.txt is empty, not text"},
		{"answers: status}\n  - id", "files: [a]}\n  - id", "s.yaml:6:45: contenders[1].files is a list, not a mapping; a text for each name"},
		// of commands only
		{"answers: status}\n  - id", "requires: fluentd}\n  - id", "s.yaml:6:48: requires of a contender that is no command; leave requires out, or give its command line"},
		{"answers: status}\n  - id", "files: {a: b}}\n  - id", "s.yaml:6:45: files of a contender that is no command; leave files out"},
		{"answers: status}\n  - id", "delivers: a}\n  - id", "s.yaml:6:48: delivers of a contender that is no command; leave delivers out"},
		{"url: 'http://127.0.0.1:8080'", "url: 'http://127.0.0.1:8080', path: /a", "s.yaml:19:54: path of a contender that is no command; leave path out"},
		// the time a server takes to end
		{"op: stop", "op: events", "s.yaml:23:16: stop is not measured on any workload; it takes a workload with op: stop"},
		{"contenders: [parse]", "contenders: [pares]", `s.yaml:22:94: unknown contender "pares"; name the study's contenders`},
		{"contenders: [parse]", "contenders: [parse, parse]", `s.yaml:22:101: "parse" is listed twice`},
		{"contender: fluentd, workload: ten, metric: cpu", "contender: fluentd, workload: ended, metric: cpu", "s.yaml:26:5: fluentd is not asked ended; add it to the contenders of that workload"},
		{"ratio: \">= 2\"}\n", "ratio: \">= 2\"}\nclaims: {id: F, kind: share, contender: theirs, workload: ended, metric: cpu, value: 0.5, statement: s}\n", "s.yaml:27:9: theirs is not asked ended"},
		{"ratio: \">= 2\"}\n", "ratio: \">= 2\"}\ndecompose: {id: d, workload: ended, from: theirs, steps: {to: parse, cause: c}}\n", "s.yaml:27:12: theirs is not asked ended"},
		{"ratio: \">= 2\"}\n", "ratio: \">= 2\"}\ndecompose: {id: d, workload: ended, from: parse, steps: [{to: nethttp, cause: c}, {to: theirs, cause: c}]}\n", "s.yaml:27:88: theirs is not asked ended"},
		{"workload: ended, metric: stop", "workload: ten, metric: stop", "s.yaml:25:29: stop is not measured on ten; it takes a workload with op: stop"},
	} {
		if !strings.Contains(besides, c.old) {
			t.Fatalf("%q is not in the study", c.old)
		}
		_, err := Parse("s.yaml", []byte(strings.Replace(besides, c.old, c.new, 1)))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q → %q: error %v, want an *Error", c.old, c.new, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q → %q:\n got %s\nwant %s…", c.old, c.new, err, c.want)
		}
	}
}
