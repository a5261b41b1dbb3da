package studyfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// served is a study of servers: everything that whole has not.
const served = `study: tiny
kinds: [server]
baseline: nethttp
contenders:
  - nethttp
  - {id: gin-pty, use: gin-new, set: {log: pty, workers: 3, share: 2.50, http2: true, note: "7"}}
  - {id: mine, command: ['./srv', '-port', '$PORT']}
  - {id: theirs, url: 'https://example.com:8443/v1'}
workloads:
  - {id: one, fixture: tiny, op: get-7, set: {depth: 1}, connections: 50}
  - {id: five, fixture: tiny, op: get-7, connections: 50, tls: true, delay: 20ms, bandwidth: 70mbit}
  - {id: fifty, fixture: tiny, op: get-7, connections: 50, segment: 5s, rate: 1500/s}
  - {id: many, fixture: tiny, op: get-7, connections: 50, segment: 5s}
metrics: [cpu, time, p99]
criteria:
  - {metric: cpu, difference: "<= 5%", of: many}
  - {workload: fifty, metric: p99, value: "<= 50ms"}
claims:
  - {id: F0.7, source: s, kind: count, contender: gin-pty, value: 30, unit: modules, statement: about 30 dependencies}
  - {id: F0.3, source: s, kind: trend, contender: gin-pty, workloads: [one, five, many], metric: time, side: lower, statement: grows}
decompose:
  - id: log
    question: whose?
    workload: one
    metric: cpu
    from: nethttp
    steps:
      - {to: gin-pty, cause: the framework}
      - {to: mine, cause: all else}
`

func TestServedStudy(t *testing.T) {
	got, err := Parse("dir/s.yaml", []byte(served))
	if err != nil {
		t.Fatal(err)
	}
	want := tare.Study{
		ID: "tiny", Kind: "server", Baseline: "nethttp", Dir: "dir",
		Contenders: []tare.Entry{
			{ID: "nethttp"},
			{ID: "gin-pty", Use: "gin-new", Set: map[string]string{"log": "pty", "workers": "3", "share": "2.5", "http2": "true", "note": "7"}},
			{ID: "mine", Command: []string{"./srv", "-port", "$PORT"}},
			{ID: "theirs", URL: "https://example.com:8443/v1"},
		},
		Workloads: []tare.Workload{
			{ID: "one", Fixture: "tiny", Op: "get-7", Set: map[string]string{"depth": "1"}, Traffic: &tare.Traffic{Connections: 50}},
			{ID: "five", Fixture: "tiny", Op: "get-7", Traffic: &tare.Traffic{Connections: 50, TLS: true, Delay: 20 * time.Millisecond, Bandwidth: 70e6}},
			{ID: "fifty", Fixture: "tiny", Op: "get-7", Traffic: &tare.Traffic{Connections: 50, Segment: 5 * time.Second, Rate: 1500}},
			{ID: "many", Fixture: "tiny", Op: "get-7", Traffic: &tare.Traffic{Connections: 50, Segment: 5 * time.Second}},
		},
		Metrics: []string{"cpu", "time", "p99"},
		Criteria: []tare.Criterion{
			{Metric: "cpu", Difference: "<= 5%", Of: "many"},
			{Workload: "fifty", Metric: "p99", Value: "<= 50ms"},
		},
		Claims: []tare.Claim{
			{ID: "F0.7", Source: "s", Kind: tare.ClaimCount, Contender: "gin-pty", Value: 30, Unit: "modules", Statement: "about 30 dependencies"},
			{ID: "F0.3", Source: "s", Kind: tare.ClaimTrend, Contender: "gin-pty", Workloads: []string{"one", "five", "many"}, Metric: "time", Side: "lower", Statement: "grows"},
		},
		Decompose: []tare.Decompose{{ID: "log", Question: "whose?", Workload: "one", Metric: "cpu", From: "nethttp",
			Steps: []tare.DecomposeStep{{To: "gin-pty", Cause: "the framework"}, {To: "mine", Cause: "all else"}}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// Each case replaces one text of the served study and says what comes of it.
func TestServedErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		// how a contender comes to run
		{"command: ['./srv', '-port', '$PORT']", "command: ./srv -port $PORT", `s.yaml:7:25: contenders[2].command is text, not a list; its words as a list, e.g. command: ['./srv', '-port', '$PORT']`},
		{"['./srv', '-port', '$PORT']", "[]", "s.yaml:7:25: a command without a program; its words as a list"},
		{"'./srv', ", "'', ", "s.yaml:7:25: a command without a program"},
		{"'$PORT'", "8080", `s.yaml:7:44: contenders[2].command[2] is a number, not text; put it in quotes: "8080"`},
		{"command: [", "use: x, command: [", "s.yaml:7:33: a contender with both use and command; keep one: use names a contender in the catalog"},
		{"url: '", "command: [a], url: '", "s.yaml:8:37: a contender with both command and url; keep one"},
		{"{id: mine, command", "{command", "s.yaml:7:5: contender without an id"},
		{"url: 'https://example.com:8443/v1'", "url: 8080", "s.yaml:8:23: contenders[3].url is a number, not text; scheme, host and port, e.g. http://127.0.0.1:8080"},
		{"https://example.com:8443/v1", "example.com:8443", `s.yaml:8:23: "example.com:8443" is not the address of a server; scheme, host and port`},
		{"https://example.com:8443/v1", "ftp://example.com", `s.yaml:8:23: "ftp://example.com" is not the address`},
		{"https://example.com:8443/v1", "http://", `s.yaml:8:23: "http://" is not the address`},
		{"https://example.com:8443/v1", "http://a:b@example.com", `s.yaml:8:23: "http://a:b@example.com" is not the address`},
		{"https://example.com:8443/v1", "http://example.com/?a=b", `s.yaml:8:23: "http://example.com/?a=b" is not the address`},
		{"https://example.com:8443/v1'", "https://example.com', go: go1.25.5", "s.yaml:8:50: a contender with url is not built by tare, so it cannot be built with something else; leave go out"},
		// what is set
		{"{log: pty, workers: 3, share: 2.50, http2: true, note: \"7\"}", "pty", "s.yaml:6:38: contenders[1].set is text, not a mapping; e.g. set: {log: pty}"},
		{"log: pty, ", "log: [pty, file], ", "s.yaml:6:44: contenders[1].set.log is a list, not a text, a number, or true or false; one level each; list the contender or workload once per level"},
		{"log: pty, ", "log: , ", `s.yaml:6:39: contenders[1].set.log is empty; put a text with nothing in it in quotes: ""`},
		{"log: pty, ", "7: pty, ", "s.yaml:6:39: a key of set is a word; letters, digits, - and _"},
		{"log: pty, ", "'a b': pty, ", "s.yaml:6:39: a key of set is a word"},
		{"2.50", ".inf", "s.yaml:6:68: contenders[1].set.share is not a finite number"},
		// traffic
		{"set: {depth: 1}, connections: 50", "set: {depth: 1}, rate: 5", "s.yaml:10:64: rate without connections; say how many the load generator keeps open, e.g. connections: 50"},
		{"connections: 50, tls: true, delay: 20ms, ", "", "s.yaml:11:53: bandwidth without connections; say how many"},
		{"connections: 50, tls: true, delay: 20ms, bandwidth: 70mbit", "tls: false", "s.yaml:11:47: tls without connections"},
		{"connections: 50, segment: 5s}", "segment: 5s}", "s.yaml:13:51: segment without connections"},
		{"connections: 50, tls", "connections: 0, tls", "s.yaml:11:55: 0 connections; 1 to 10000"},
		{"connections: 50, tls", "connections: 20000, tls", "s.yaml:11:55: 20000 connections; 1 to 10000"},
		{"connections: 50, tls", "connections: all, tls", "s.yaml:11:55: workloads[1].connections is text, not an integer"},
		{"tls: true", "tls: yes", "s.yaml:11:64: workloads[1].tls is text, not true or false; e.g. tls: true"},
		{"tls: true", "tls: 1", "s.yaml:11:64: workloads[1].tls is a number, not true or false"},
		{"delay: 20ms", "delay: 20", "s.yaml:11:77: workloads[1].delay is a number, not a duration; with its unit"},
		{"delay: 20ms", "delay: 2h", "s.yaml:11:77: a delay of 2h0m0s; 0 to 1m"},
		{"70mbit", "70Mb", `s.yaml:11:94: "70Mb" is not a bandwidth; bits per second, each way, with bit, kbit, mbit or gbit, e.g. 70mbit`},
		{"70mbit", "0", "s.yaml:11:94: workloads[1].bandwidth is not between 1 bit and 1000 gbit per second"},
		{"70mbit", "2000gbit", "s.yaml:11:94: workloads[1].bandwidth is not between 1 bit and 1000 gbit"},
		{"70mbit", "1.5", "s.yaml:11:94: workloads[1].bandwidth is a number, not an integer number of bits per second or a text with its unit"},
		{"rate: 1500/s", "rate: 1500/m", `s.yaml:12:79: "1500/m" is not a rate; requests per second, e.g. 1500 or 1500/s; leave it out for a closed loop`},
		{"rate: 1500/s", "rate: fast", `s.yaml:12:79: "fast" is not a rate`},
		{"rate: 1500/s", "rate: 0", "s.yaml:12:79: workloads[2].rate is not above zero; requests per second"},
		{"rate: 1500/s", "rate: -5", "s.yaml:12:79: workloads[2].rate is not above zero"},
		{"rate: 1500/s", "rate: [1500]", "s.yaml:12:79: workloads[2].rate is a list, not a number or a text like 1500/s"},
		{"rate: 1500/s", "rate: 100000000", "s.yaml:12:79: 1e+08 requests per second; above 0, at most 1000000"},
		{"segment: 5s, rate", "rate", "s.yaml:12:66: a rate without a segment; an open loop takes a continuous segment, e.g. segment: 5s"},
		{"segment: 5s, rate", "segment: 1ms, rate", "s.yaml:12:69: a segment of 1ms; 1s to 1h"},
		// what no run can answer
		{"fixture: tiny, op: get-7, connections: 50, segment: 5s, rate: 1500/s", "fixture: tiny, op: get-7, connections: 50", "s.yaml:17:31: p99 is not measured on fifty; latencies take a continuous segment, e.g. segment: 5s"},
		{"workloads: [one, five, many], metric: time", "workloads: [one, five, fifty], metric: time", "s.yaml:20:99: time is not measured on fifty; at a given rate the time of an operation is that rate's; leave rate out"},
		{`metric: cpu, difference: "<= 5%", of: many`, `metric: time, difference: "<= 5%", of: fifty`, "s.yaml:16:14: time is not measured on fifty"},
		{"metric: cpu\n", "metric: p99\n", "s.yaml:25:13: p99 is not measured on one; latencies take"},
		{"metrics: [cpu, time, p99]", "metrics: [cpu, time, p99, speed]", `s.yaml:14:27: unknown metric "speed"`},
		// criteria
		{`difference: "<= 5%", of: many`, `difference: "<= 5%"`, "s.yaml:16:5: criteria[0].of: a difference of nothing; name the workload it is a share of, e.g. of: socket/health"},
		{`difference: "<= 5%", of: many`, `ratio: "<= 5", of: many`, `s.yaml:16:38: of without a difference; it names the workload that a difference is a share of`},
		{`"<= 5%"`, `"<= 5"`, `s.yaml:16:31: "<= 5" is not <= and a percentage above 0; e.g. "<= 5%"`},
		{`"<= 5%"`, `">= 5%"`, `s.yaml:16:31: ">= 5%" is not <= and a percentage above 0`},
		{`"<= 5%"`, `5%`, `s.yaml:16:31: "5%" does not start with <= or >=`},
		{"of: many", "of: most", `s.yaml:16:44: unknown workload "most"; name one of the study's workloads`},
		// claims
		{"value: 30, ", "", "s.yaml:19:5: claims[0].value: a count without the published number; e.g. value: 30"},
		{"value: 30", "value: 30, workload: one", "s.yaml:19:81: a count is about a contender's modules, on all workloads; leave workload out, or write kind: ratio"},
		{"value: 30", "value: 30, workloads: [one]", "s.yaml:19:82: a count is about a contender's modules, on all workloads; leave workloads out, or write kind: trend"},
		{"value: 30", "value: 30, check: identity", "s.yaml:19:78: a count is answered by its figure, not by a check; leave check out, or write kind: statement"},
		{"workloads: [one, five, many], metric", "workloads: [one, five], metric", "s.yaml:20:5: a trend needs three workloads or more, a metric and a side"},
		{"workloads: [one, five, many], metric", "workloads: [one, five, one], metric", `s.yaml:20:83: "one" is listed twice`},
		{"workloads: [one, five, many], metric", "workloads: [one, five, most], metric", `s.yaml:20:71: unknown workload "most"; name the study's workloads`},
		{"side: lower", "side: lower, workload: one", "s.yaml:20:127: a trend is about several workloads; leave workload out"},
		{"side: lower", "side: lower, value: 3", "s.yaml:20:124: a trend has no figures; leave value out, or write kind: ratio"},
		{"side: lower", "side: left", "s.yaml:20:5: a trend needs three workloads or more, a metric and a side"},
		// decompositions
		{"id: log", "no: log", `s.yaml:22:5: unknown key "no"; known: from, id, metric, question, steps, workload`},
		{"  - id: log\n    question", "  - question", "s.yaml:22:5: decompose[0].id: decomposition without an id; e.g. id: F3.1"},
		{"workload: one\n", "workload: most\n", `s.yaml:24:15: unknown workload "most"`},
		{"from: nethttp", "from: netttp", `s.yaml:26:11: unknown contender "netttp"; name one of the study's contenders`},
		{"to: mine", "to: ours", `s.yaml:29:14: unknown contender "ours"`},
		{"to: mine", "to: nethttp", `s.yaml:29:14: the chain comes back to "nethttp"; each step is to another contender`},
		{", cause: all else", "", "s.yaml:29:9: decompose[0].steps[1].cause: a step without its cause; say what it changes"},
		{"cause: all else", "cause: 7", `s.yaml:29:27: decompose[0].steps[1].cause is a number, not text; what the step changes, as a noun`},
		{"cause: all else", "why: all else", `s.yaml:29:20: unknown key "why"; known: cause, to`},
		{"steps:\n      - {to: gin-pty, cause: the framework}\n      - {to: mine, cause: all else}\n", "steps: []\n", "s.yaml:27:12: decomposition without steps; e.g. steps: [{to: gin-new, cause: the framework}]"},
		{"      - {to: mine, cause: all else}\n", "      - {to: mine, cause: all else}\n  - {id: log, workload: one, from: nethttp, steps: {to: mine, cause: x}}\n", `s.yaml:30:10: decomposition "log" is listed twice; give each its own id`},
	} {
		if !strings.Contains(served, c.old) {
			t.Fatalf("%q is not in the study", c.old)
		}
		_, err := Parse("s.yaml", []byte(strings.Replace(served, c.old, c.new, 1)))
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

func TestRatesAndBandwidths(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "0.5": 0.5, "1500": 1500, "1500/s": 1500, "'1500 / s'": 1500, "2.5/s": 2.5} {
		s, err := Parse("s.yaml", []byte(strings.Replace(served, "rate: 1500/s", "rate: "+text, 1)))
		if err != nil || s.Workloads[2].Traffic.Rate != want {
			t.Errorf("rate %s: %v, want %v", text, err, want)
		}
	}
	for text, want := range map[string]int64{"1": 1, "70000000": 70e6, "70mbit": 70e6, "70 mbit": 70e6, "1gbit": 1e9, "1.5kbit": 1500, "10bit": 10, "1000gbit": 1e12} {
		s, err := Parse("s.yaml", []byte(strings.Replace(served, "70mbit", text, 1)))
		if err != nil || s.Workloads[1].Traffic.Bandwidth != want {
			t.Errorf("bandwidth %s: %v, want %v", text, err, want)
		}
	}
	for _, text := range []string{"http://127.0.0.1:8080", "http://localhost", "https://[::1]:443/api/", "HTTP://EXAMPLE.com"} {
		if s, err := Parse("s.yaml", []byte(strings.Replace(served, "https://example.com:8443/v1", text, 1))); err != nil || s.Contenders[3].URL != text {
			t.Errorf("url %s: %v", text, err)
		}
	}
}
