package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare"
)

// Results of studies of servers and routers, made up by hand like the others.

const (
	visits  = "get-7"
	segment = "get-7/1500"
	gin     = "github.com/gin-gonic/gin"
)

// server is a row of a made-up study of servers: its medians on the first workload.
type server struct {
	contender                 tare.Contender
	time, cpu, client, allocs float64
	p99                       float64 // ms, at a rate
	rank                      [2]int
	letters                   string
	output, received, busy    float64
	connects                  float64
}

func servers() []server {
	who := func(id, name, version string, role tare.Role) tare.Contender {
		return tare.Contender{ID: id, Kind: "server", Role: role, Name: name, Version: version, Build: tare.Build{Go: goJSON}}
	}
	named := func(id, name, version string) tare.Contender { return who(id, name, version, tare.RoleContender) }
	logging := named("gin-default", gin, "v1.11.0")
	logging.Set = map[string]string{"log": "pty"}
	own := tare.Contender{ID: "own", Kind: "server", Role: tare.RoleContender, Start: tare.Start{Launch: tare.LaunchCommand, Command: []string{"./srv", "-port", "$PORT"}}}
	plain := who("nethttp-plain", "net/http", goJSON, tare.RoleTrap)
	plain.Why, plain.Expect = "any method, and the last element of any path", tare.Expect{Void: []string{"negative-probe"}}
	return []server{
		{contender: who("nethttp", "net/http", goJSON, tare.RoleBaseline), time: 13030, cpu: 11210, client: 6120, allocs: 12, p99: 24.1, rank: [2]int{1, 1}, letters: "a", received: 131, busy: 0.86, connects: 50},
		{contender: named("gin-new", gin, "v1.11.0"), time: 13810, cpu: 11890, client: 6180, allocs: 13, p99: 24.4, rank: [2]int{2, 3}, letters: "b", received: 142, busy: 0.86, connects: 50},
		{contender: named("gin-default-discard", gin, "v1.11.0"), time: 18600, cpu: 16420, client: 6200, allocs: 20, p99: 24.9, rank: [2]int{4, 4}, letters: "c", received: 142, busy: 0.88, connects: 50},
		{contender: logging, time: 26190, cpu: 23310, client: 6350, allocs: 20, p99: 41.7, rank: [2]int{5, 5}, letters: "d", output: 82, received: 142, busy: 0.89, connects: 50},
		{contender: named("fasthttp", "github.com/valyala/fasthttp", "v1.68.0"), time: 9102, cpu: 6010, client: 6090, p99: 23.8, received: 148, busy: 0.66, connects: 50},
		{contender: own, time: 15240, cpu: 13070, client: 6140, allocs: -1, p99: 24.6, rank: [2]int{2, 3}, letters: "b", received: 118, busy: 0.86, connects: 51},
		{contender: plain, time: 12890, cpu: 11090, client: 6110, allocs: 10, p99: 24.0, received: 128, busy: 0.86, connects: 50},
		{contender: who(tare.ControlID, "net/http", goJSON, tare.RoleControl), time: 13041, cpu: 11223, client: 6122, allocs: 12, p99: 24.2, received: 131, busy: 0.86, connects: 50},
		{contender: who(tare.NullID, "", "", tare.RoleNull), time: 7904, cpu: 4420, client: 6080, p99: 23.5, received: 118, busy: 0.56, connects: 50},
	}
}

// took returns the medians of a server on a workload by metric, in base units.
func (s server) took(w tare.Workload) map[string]float64 {
	out := map[string]float64{"cpu": s.cpu, "client-cpu": s.client, "rss": 24.1e6 + s.cpu*100}
	if s.contender.Launch == "" {
		out["allocs"] = s.allocs
	}
	if w.Traffic.Segment > 0 {
		for name, share := range map[string]float64{"p50": 0.875, "p90": 0.931, "p99": 1, "p99.9": 1.31, "max": 3.7} {
			out[name] = s.p99 * share * 1e6
		}
	}
	if w.Traffic.Rate == 0 {
		out["time"] = s.time
	}
	return out
}

// recorded returns the sample of a trial of the server on a workload in a round.
func (s server) recorded(w tare.Workload, round int) tare.Sample {
	out := tare.Sample{}
	for name, x := range s.took(w) {
		out[findMetric(name).Key] = x
	}
	wall := 1.6e9
	rate := 1e9 / s.time
	out[tare.KeyConcurrency] = 49.6 + 0.1*float64(round)
	if w.Traffic.Rate > 0 {
		wall, rate = 5e9, w.Traffic.Rate-0.3
		out[tare.KeyRateAsked], out[tare.KeySendLag] = w.Traffic.Rate, 41e3+1e3*float64(round)
		out[tare.KeyConcurrency] = rate * s.p99 * 0.9e-3
	}
	out[tare.KeyRequests], out[tare.KeyRate], out[tare.KeyWall] = float64(int(rate*wall/1e9)), rate, wall
	out["ops"] = out[tare.KeyRequests]
	out[tare.KeyConnects], out[tare.KeyConnections] = s.connects, 50
	out[tare.KeyServerCores], out[tare.KeyClientCores] = 1, 1
	out[tare.KeyClientCPU] = s.client * rate * wall / 1e9
	if s.contender.Launch == "" {
		out[tare.KeyServerCPU] = s.busy * wall
		out[tare.KeyOutput] = s.output
	}
	out[tare.KeyBytesSent], out[tare.KeyBytesReceived] = 58, s.received
	out[tare.KeyErrors], out[tare.KeyTimeouts] = 0, 0
	if s.contender.ID == "gin-default" && w.Traffic.Rate > 0 && round == 2 {
		out[tare.KeyErrors], out[tare.KeyTimeouts] = 4, 3
	}
	return out
}

// tiny is a study of servers: closed loops, and one open one.
func tiny() *tare.Result {
	r := base()
	r.Study, r.Question, r.Kind = "tiny", "Does a service that answers with eleven bytes need a framework?", "server"
	r.Metrics = []string{"time", "cpu", "client-cpu", "allocs", "p50", "p90", "p99", "p99.9", "max", "rss"}
	closed := &tare.Traffic{Connections: 50}
	open := &tare.Traffic{Connections: 50, Rate: 1500, Segment: 5 * time.Second, TLS: true, Delay: 20 * time.Millisecond, Bandwidth: 70e6}
	r.Workloads = []tare.Workload{
		{ID: visits, Fixture: "tiny", Op: "get-7", Pool: 1, Traffic: closed},
		{ID: "get-random", Fixture: "tiny", Op: "get-random", Pool: 64, Set: map[string]string{"log": "none"}, Traffic: closed},
		{ID: segment, Fixture: "tiny", Op: "get-7", Pool: 1, Traffic: open},
	}
	r.Machine.Resolution[0].Workload = visits
	r.Contenders, r.Values, r.Comparisons, r.Conformance, r.Claims = nil, nil, nil, nil, nil
	for _, s := range servers() {
		r.Contenders = append(r.Contenders, s.contender)
		probe := tare.Conformance{Contender: s.contender.ID, Workload: "refusals", Cases: 5, Probe: true}
		if s.contender.Role == tare.RoleTrap {
			probe.Wrong = 4
		}
		r.Conformance = append(r.Conformance, probe)
		for _, w := range r.Workloads {
			r.Conformance = append(r.Conformance, tare.Conformance{Contender: s.contender.ID, Workload: w.ID, Cases: max(w.Pool, 1)})
			measureServer(r, s, w)
		}
	}
	for round := 1; round <= 3; round++ {
		for _, s := range servers() {
			t := tare.Trial{Round: round, Tau: 1, Contender: s.contender.ID, Seconds: 7, Samples: map[string]tare.Sample{}, Evidence: tare.Evidence{GOMAXPROCS: 1}}
			for _, w := range r.Workloads {
				t.Samples[w.ID] = s.recorded(w, round)
			}
			r.Trials = append(r.Trials, t)
		}
	}
	judged(r)
	return priced(r, 1000)
}

// measureServer adds the figures of a server on a workload, and its comparisons with the baseline.
func measureServer(r *tare.Result, s server, w tare.Workload) {
	role, reference := s.contender.Role, servers()[0].took(w)
	for _, name := range r.Metrics {
		x, ok := s.took(w)[name]
		if !ok {
			continue
		}
		m := findMetric(name)
		limited := s.contender.ID == "fasthttp" && name == "time"
		r.Values = append(r.Values, tare.Value{Workload: w.ID, Contender: s.contender.ID, Metric: name, Value: x, Low: x * 0.99, High: x * 1.01, Unit: m.Unit, Rounds: 27, Struck: role == tare.RoleTrap || limited})
		c := tare.Comparison{Workload: w.ID, Contender: s.contender.ID, Metric: name, Against: "nethttp", Ratio: x / reference[name], Level: 0.95, Rounds: 27, Unit: m.Unit, Value: x, AgainstValue: reference[name], Exploratory: name != "time"}
		if role == tare.RoleTrap || role == tare.RoleNull || role == tare.RoleBaseline && name != "time" || !(c.Ratio > 0) {
			continue
		}
		c.Low, c.High = c.Ratio*0.987, c.Ratio*1.013
		if name == "allocs" {
			c.Low, c.High, c.Exact = c.Ratio, c.Ratio, true
		}
		if name == "time" && !limited {
			c.RankLow, c.RankHigh, c.Letters = s.rank[0], s.rank[1], s.letters
		}
		r.Comparisons = append(r.Comparisons, c)
	}
}

// judged adds what was concluded from the figures of tiny.
func judged(r *tare.Result) {
	r.Verdicts = []tare.Verdict{
		{Contender: "gin-new", Workload: visits, Metric: "time", Criterion: "time equivalent within 5%", Verdict: tare.NotMet,
			Sentence: "gin-new: time equivalent within 5% is not met: it takes 1.06× the time of nethttp on get-7 (1.05 to 1.07, 95 %, 27 rounds)."},
		{Contender: "fasthttp", Workload: visits, Metric: "time", Criterion: "time equivalent within 5%", Verdict: tare.VoidRuling,
			Sentence: "fasthttp on get-7 is void by generator-headroom: the load generator used 91 % of its cores."},
		{Contender: "gin-default", Workload: segment, Metric: "p99", Criterion: "p99 <= 50ms", Verdict: tare.Met,
			Sentence: "gin-default: p99 <= 50ms is met on get-7/1500: the median over rounds is 41.7 ms (41.3 to 42.1 ms, 95 %, 27 rounds)."},
		{Contender: "own", Workload: visits, Metric: "time", Sentence: "own takes 1.17× the time of nethttp on get-7 (1.15 to 1.18, 95 %, 27 rounds): 17 % more time."},
	}
	r.Findings = []tare.Finding{
		{Check: "negative-probe", Severity: tare.Void, Contender: "nethttp-plain", Message: "4 of 5 requests that must be refused were not: POST /v1/id/7 was answered with 200", Advice: "register the method", Expected: true},
		{Check: "generator-headroom", Severity: tare.Void, Contender: "fasthttp", Workload: visits, Metric: "time", Message: "the load generator used 91 % of its cores, so that it may have been the limit", Advice: "give it more cores; CPU time per request stands"},
		{Check: "generator-headroom", Severity: tare.Void, Contender: "fasthttp", Workload: "get-random", Metric: "time", Message: "the load generator used 91 % of its cores, so that it may have been the limit", Advice: "give it more cores; CPU time per request stands"},
		{Check: "output-parity", Severity: tare.Warn, Contender: "gin-default", Message: "it writes 82 bytes of output per request, nethttp none", Advice: "compare it with gin-default-discard"},
	}
	causes := []tare.Cause{
		{Cause: "the framework", From: "nethttp", To: "gin-new", Share: 0.059, ShareLow: 0.047, ShareHigh: 0.072},
		{Cause: "a line of log per request", From: "gin-new", To: "gin-default-discard", Share: 0.364, ShareLow: 0.341, ShareHigh: 0.386},
		{Cause: "a terminal that the lines are written to, one write each", From: "gin-default-discard", To: "gin-default", Share: 0.577, ShareLow: 0.551, ShareHigh: 0.602},
		{From: "nethttp", To: "gin-default"},
	}
	at := map[string]float64{"nethttp": 13030, "gin-new": 13810, "gin-default-discard": 18600, "gin-default": 26190}
	for i := range causes {
		c := &causes[i]
		c.FromValue, c.ToValue, c.Unit, c.Rounds, c.Level = at[c.From], at[c.To], "ns/op", 27, 0.9833
		c.Ratio = c.ToValue / c.FromValue
		c.Low, c.High = c.Ratio*0.988, c.Ratio*1.012
	}
	causes[3].Level = 0.95
	less := causes[0]
	less.Cause, less.From, less.To, less.FromValue, less.ToValue, less.Share, less.ShareLow, less.ShareHigh = "reading the request without net/http", "gin-new", "fasthttp", 11890, 6010, 1.131, 1.1, 1.16
	less.Ratio, less.Low, less.High, less.Level = 0.5055, 0.4994, 0.5116, 0.975
	first := causes[0]
	first.Level, first.FromValue, first.ToValue, first.Share, first.ShareLow, first.ShareHigh = 0.975, 11210, 11890, -0.131, -0.16, -0.1
	r.Decomposition = []tare.Decomposition{
		{ID: "F3.1", Question: "What did the published comparison measure?", Workload: visits, Metric: "time", Whole: causes[3], Steps: causes[:3],
			Sentence: "Of the 101 % more time of gin-default against nethttp on get-7 (2.01×, 1.99 to 2.03, 95 %, 27 rounds), the framework is 6 % (5 to 7), a line of log per request 36 % (34 to 39) and a terminal that the lines are written to, one write each 58 % (55 to 60), each at 98.33 %."},
		{ID: "cheaper", Workload: visits, Metric: "cpu", Steps: []tare.Cause{first, less},
			Whole:    tare.Cause{From: "nethttp", To: "fasthttp", Ratio: 0.536, Low: 0.53, High: 0.542, Level: 0.95, Rounds: 27, FromValue: 11210, ToValue: 6010, Unit: "ns/op"},
			Sentence: "Of the 46 % less CPU time of fasthttp against nethttp on get-7 (0.536×, 0.530 to 0.542, 95 %, 27 rounds), the framework is −13 % (−16 to −10) and reading the request without net/http 113 % (110 to 116), each at 97.5 %."},
		{ID: "capacity", Workload: segment, Metric: "time", Whole: tare.Cause{From: "nethttp", To: "fasthttp"}, Steps: []tare.Cause{},
			Sentence: "The time of fasthttp against nethttp on get-7/1500 is not taken apart: at a rate that is given it says nothing."},
	}
	r.Claims = []tare.ClaimResult{
		{ID: "F3.1", Kind: tare.ClaimRatio, Source: "tiny Go service write-up", Statement: "plain Go serves twice the requests of Gin", Evidence: "gin-default against nethttp, time, 27 rounds", Contender: "gin-default", Workload: visits, Metric: "time",
			Published: 2.0094, Measured: 2.01, Low: 1.986, High: 2.034, Outcome: tare.Holds, Why: "published 2.01×, measured 2.01× (1.99 to 2.03, 95 %, 27 rounds): within 1.25× of the published ratio"},
	}
	r.Profiles = []tare.Profile{
		{Contender: "nethttp", Workload: visits, Of: tare.ProfileCPU, Unit: "nanoseconds", Total: 2.98e9, Ops: 264000, File: "nethttp.get-7.cpu.pprof", Flame: "nethttp.get-7.cpu.svg", Top: []tare.ProfileLine{
			{Function: "internal/runtime/syscall.Syscall6", Flat: 1.21e9, Cumulative: 1.21e9}, {Function: "net/http.(*conn).serve", Flat: 0.09e9, Cumulative: 2.51e9}, {Function: "runtime.mallocgc", Flat: 0.08e9, Cumulative: 0.14e9},
		}},
		{Contender: "gin-default", Workload: visits, Of: tare.ProfileCPU, Unit: "nanoseconds", Total: 3.11e9, Ops: 131000, File: "gin-default.get-7.cpu.pprof", Top: []tare.ProfileLine{
			{Function: "internal/runtime/syscall.Syscall6", Flat: 1.72e9, Cumulative: 1.72e9}, {Function: "github.com/gin-gonic/gin.(*Context).Next", Flat: 0.03e9, Cumulative: 2.2e9},
			{Function: "github.com/gin-gonic/gin.LoggerWithConfig.func1", Flat: 0.02e9, Cumulative: 1.5e9}, {Function: "fmt.(*pp).doPrintf", Flat: 0.11e9, Cumulative: 0.3e9},
			{Function: "slices.insertionSortCmpFunc[go.shape.struct { github.com/example/very/long/path.Key string; Value interface {} }]", Flat: 0.01e9, Cumulative: 0.01e9}, {Function: "time.Time.AppendFormat", Flat: 0.01e9, Cumulative: 0.02e9}, {Function: "runtime.futex", Flat: 0.005e9, Cumulative: 0.005e9},
		}},
		{Contender: "gin-default", Workload: visits, Of: tare.ProfileMem, Unit: "bytes", Total: 2.5e8, Ops: 131000, File: "gin-default.get-7.mem.pprof"},
	}
}

// quick returns tiny at the quick budget, which leaves out measurements that take long.
func quick() *tare.Result {
	r := tiny()
	r.Stopped, r.RoundsDone = "budget", 12
	r.Workloads, r.Verdicts, r.Findings, r.Decomposition, r.Profiles, r.Cost = r.Workloads[:1], r.Verdicts[:1], r.Findings[:1], r.Decomposition[:1], nil, nil
	r.Contenders = append(r.Contenders[:4:4], r.Contenders[6:]...)
	left := func(contender, workload string) bool {
		_, ok := r.Contender(contender)
		return !ok || workload != visits
	}
	r.Values = slices.DeleteFunc(r.Values, func(v tare.Value) bool { return left(v.Contender, v.Workload) })
	r.Comparisons = slices.DeleteFunc(r.Comparisons, func(c tare.Comparison) bool { return left(c.Contender, c.Workload) })
	r.Conformance = slices.DeleteFunc(r.Conformance, func(c tare.Conformance) bool { return !c.Probe && left(c.Contender, c.Workload) })
	r.Trials = slices.DeleteFunc(r.Trials, func(t tare.Trial) bool { return left(t.Contender, visits) })
	for _, id := range []string{"chi", "echo", "hertz"} {
		r.NotWeighed = append(r.NotWeighed, tare.NotWeighed{What: "contender " + id, Why: "left out at this budget (no claim and no criterion needs it)"})
	}
	r.NotWeighed = append(r.NotWeighed, tare.NotWeighed{What: "workload get-random", Why: "left out at this budget (no claim and no criterion needs it)"})
	for _, id := range []string{segment, "get-7/10000"} {
		r.NotWeighed = append(r.NotWeighed, tare.NotWeighed{What: "workload " + id, Why: "not measured at this budget (each contender takes 5s a round, alone; needs --budget full)"})
	}
	r.Claims = append(r.Claims, tare.ClaimResult{ID: "F3.1-p99", Kind: tare.ClaimRatio, Source: "tiny Go service write-up", Statement: "99 % within 90 ms against 23 ms", Evidence: "none", Contender: "gin-default", Workload: segment, Metric: "p99",
		Published: 3.913, Outcome: tare.NotMeasured, Why: "workload get-7/1500: not measured at this budget (each contender takes 5s a round, alone; needs --budget full)"})
	return r
}

// routing returns a study of routers with a criterion that applies to all of them.
func routing() *tare.Result {
	r := base()
	r.Study, r.Question, r.Kind = "routing", "Does it matter which router a Go service takes?", "router"
	r.Contenders, r.Values, r.Comparisons, r.Conformance, r.Claims, r.Verdicts, r.Workloads = nil, nil, nil, nil, nil, nil, nil
	r.Machine.Resolution = nil
	for _, n := range []int{1, 5, 50, 500} {
		r.Workloads = append(r.Workloads, tare.Workload{ID: fmt.Sprintf("serve/%d", n), Fixture: "routes", N: n, Op: "serve", Pool: 64, Set: map[string]string{"depth": "3", "params": "1", "middleware": "0"}})
	}
	r.Workloads = append(r.Workloads, tare.Workload{ID: "socket/5", File: "openapi.yaml", Op: "socket", Pool: 64})
	all := []struct {
		id, name, version string
		ns, allocs        float64
		modules           int
	}{
		{"nethttp", "net/http", goJSON, 1158, 11, 0}, {"gin-new", gin, "v1.11.0", 1096, 12, 33}, {"chi", "github.com/go-chi/chi/v5", "v5.2.3", 1290, 13, 1},
		{"echo", "github.com/labstack/echo/v5", "v5.0.0", 1010, 11, 4}, {"httprouter", "github.com/julienschmidt/httprouter", "v1.3.0", 934, 10, 1}, {"gorilla-mux", "github.com/gorilla/mux", "v1.8.1", 2814, 18, 1},
	}
	for i, c := range all {
		role := tare.RoleContender
		if i == 0 {
			role = tare.RoleBaseline
		}
		r.Contenders = append(r.Contenders, tare.Contender{ID: c.id, Kind: "router", Role: role, Name: c.name, Version: c.version, Build: tare.Build{Go: goJSON, BinaryBytes: 6e6 + int64(c.modules)*1e5}, Adoption: taken(c.modules, "", 3, 7, 5, "MIT")})
	}
	r.Contenders = append(r.Contenders, tare.Contender{ID: tare.ControlID, Kind: "router", Role: tare.RoleControl, Name: "net/http", Version: goJSON}, tare.Contender{ID: tare.NullID, Kind: "router", Role: tare.RoleNull})
	place := map[string]int{"httprouter": 1, "echo": 2, "gin-new": 3, "nethttp": 4, "chi": 5, "gorilla-mux": 6}
	for k, w := range r.Workloads {
		harness := 400.0
		if w.Op == "socket" {
			harness = 21000
		}
		for i, c := range all {
			ns := harness + c.ns*(1+0.3*float64(k%4)) - float64(i*k)*20
			r.Values = append(r.Values, figures(w.ID, c.id, ns, ns*1.01, 1064+64*c.allocs, c.allocs)...)
			r.Conformance = append(r.Conformance, tare.Conformance{Contender: c.id, Workload: w.ID, Cases: 64})
			if i == 0 {
				r.Values = append(r.Values, figures(w.ID, tare.ControlID, ns, ns*1.01, 1064+64*c.allocs, c.allocs)...)
				r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: w.ID, Contender: c.id, Metric: "time", Against: "nethttp", Ratio: 1, Low: 1, High: 1, Level: 0.99, Rounds: 27, RankLow: 4, RankHigh: 5, Letters: "d"},
					tare.Comparison{Workload: w.ID, Contender: tare.ControlID, Metric: "time", Against: "nethttp", Ratio: 1, Low: 0.99, High: 1.01, Level: 0.99, Rounds: 27})
				continue
			}
			x := ns / (harness + all[0].ns*(1+0.3*float64(k%4)))
			r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: w.ID, Contender: c.id, Metric: "time", Against: "nethttp", Ratio: x, Low: x * 0.99, High: x * 1.01, Level: 0.99, Rounds: 27, RankLow: place[c.id], RankHigh: place[c.id] + place[c.id]%2, Letters: "abcdef"[place[c.id]-1 : place[c.id]]})
			v := tare.Verdict{Contender: c.id, Workload: w.ID, Metric: "time", Criterion: "time difference <= 5% of socket/5", Verdict: tare.Met}
			switch {
			case c.id == "gorilla-mux" && k > 1:
				v.Verdict = tare.NotMet
			case c.id == "chi" && k == 3:
				v.Verdict = tare.Inconclusive
			}
			v.Sentence = fmt.Sprintf("%s: %s is %s: it costs 6.2 %% of socket/5 more time than nethttp on %s (5.9 to 6.5 %%, 99 %%, 27 rounds).", c.id, v.Criterion, v.Verdict, w.ID)
			r.Verdicts = append(r.Verdicts, v)
			slow := v
			slow.Criterion, slow.Verdict = "time difference <= 1000% of socket/5", tare.Met
			r.Verdicts = append(r.Verdicts, slow)
		}
		r.Values = append(r.Values, figures(w.ID, tare.NullID, harness, harness, 0, 0)...)
	}
	published := func(id string, kind tare.ClaimKind, workload, metric string, published, measured, low, high float64, o tare.Outcome, statement, why string) {
		r.Claims = append(r.Claims, tare.ClaimResult{ID: id, Kind: kind, Source: "homelab API research, 2026-03-01", Statement: statement, Evidence: "this run", Contender: "gin-new", Workload: workload, Metric: metric, Published: published, Measured: measured, Low: low, High: high, Outcome: o, Why: why})
	}
	published("F0.1", tare.ClaimRatio, "serve/1", "time", 0.9465, 0.96, 0.95, 0.97, tare.DirectionHolds, "Gin is 5 % faster on a simple route", "published 0.946×, measured 0.96× (0.95 to 0.97)")
	published("F0.3", tare.ClaimTrend, "", "time", 0, 0.911, 0.894, 0.929, tare.Holds, "the advantage grows with the number of routes", "from serve/1 to serve/500 the ratio moves by a factor of 0.911 (0.894 to 0.929, 95 %, 27 rounds): it falls as claimed")
	published("F0.7", tare.ClaimCount, "", "", 30, 33, 0, 0, tare.Holds, "about 30 transitive dependencies are added", "published 30, counted 33: its go.mod requires 33 more than that of nethttp, and its binary links 21 more; within 1.25× of the published number")
	published("F0.7-own", tare.ClaimCount, "", "", 1, 0, 0, 0, tare.Refuted, "one dependency is added", "published 1, counted 0")
	published("F0.7-gone", tare.ClaimCount, "", "", 12, 0, 0, 0, tare.NotMeasured, "a dozen dependencies are added", "gin-new could not be built")
	published("F0.3-early", tare.ClaimTrend, "", "cpu", 0, 0.97, 0, 0, tare.ClaimOpen, "so does that in CPU time", "no interval after 4 rounds; it takes 8")
	return r
}
