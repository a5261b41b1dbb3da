package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// own is a workload of faces() whose requests come from the contenders' own clients.
const own = "get-random"

// faces returns tiny as a study of rpc. The requests of one workload come from the contenders' own
// clients, whose bytes are not counted, and more claims were published than measured.
func faces() *tare.Result {
	r := tiny()
	r.Study, r.Question, r.Kind = "faces", "What does it take to serve the same calls over two protocols?", kindRPC
	r.Metrics = slices.Insert(r.Metrics, 3, "bytes", "client-bytes")
	r.Workloads[1].Set = map[string]string{driverKey: clientDriver}
	for i, s := range servers() {
		for _, w := range r.Workloads {
			r.Values = append(r.Values, tare.Value{Workload: w.ID, Contender: s.contender.ID, Metric: "bytes", Value: float64(3000 + 100*i), Unit: "B/op", Rounds: 27, Struck: s.contender.Role == tare.RoleTrap})
		}
		if s.contender.Role != tare.RoleNull {
			r.Values = append(r.Values, tare.Value{Workload: own, Contender: s.contender.ID, Metric: "client-bytes", Value: float64(5000 + 100*i), Unit: "B/op", Rounds: 27, Struck: s.contender.Role == tare.RoleTrap})
		}
	}
	for _, t := range r.Trials {
		if s := t.Samples[own]; s != nil && t.Contender != tare.NullID {
			delete(s, tare.KeyBytesSent)
			delete(s, tare.KeyBytesReceived)
		}
	}
	claim := func(workload, metric string, published float64) {
		r.Claims = append(r.Claims, tare.ClaimResult{ID: "F3.1/" + workload + "/" + metric, Kind: tare.ClaimRatio, Source: "tiny Go service write-up", Statement: workload + " by " + metric, Evidence: "none",
			Contender: "gin-default", Workload: workload, Metric: metric, Published: published, Outcome: tare.NotMeasured, Why: "of " + workload})
	}
	claim(visits, "bytes", 1.302)
	claim(own, "time", 2.5)
	last := &r.Claims[len(r.Claims)-1]
	last.PublishedValue, last.PublishedBaseline, last.Unit = 31250, 12500, "ns/op"
	claim(segment, "p99", 3.913)
	claim("get-64", "time", 2.2)
	r.Profiles[1].Gap = &tare.ProfileGap{
		Against: "nethttp", From: 11290, To: 23740,
		Parts: []tare.GapLine{{Name: "system calls", From: 4583, To: 13130}, {Name: "fmt", To: 840}, {Name: "net/http", From: 700, To: 400}}, Functions: []tare.GapLine{},
	}
	r.Profiles[2].Gap = &tare.ProfileGap{
		Against: "nethttp", From: 1290, To: 1908,
		Parts:     []tare.GapLine{{Name: "fmt", To: 700}},
		Functions: []tare.GapLine{{Name: "github.com/gin-gonic/gin.LoggerWithConfig.func1", To: 512}},
	}
	return r
}

func TestPublishedTable(t *testing.T) {
	const heading = "PUBLISHED FIGURES NEXT TO THOSE MEASURED HERE"
	assert.Equal(t, "codecs have none", sectionText(t, base(), heading), "")
	assert.Equal(t, "routers have none", sectionText(t, routing(), heading), "")
	got := sectionText(t, faces(), heading)
	for _, want := range []string{
		"\n  get-random, own client\n", "2.010 [1.984, 2.036]  2.009", "–                 1.302", "41.7", "3.913",
		"\n  Published as well, and not measured in this run: get-64.",
	} {
		assert.Contains(t, "text", got, want)
	}
	for _, unwanted := range []string{"nethttp-plain", "fasthttp", "control"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("nothing was published of %s:\n%s", unwanted, got)
		}
	}
	assert.Equal(t, "a row", lineOf(t, got, "gin-default"), "gin-default 26.19 38,183 23.31 3,300 20 5")
	assert.Contains(t, "quick", sectionText(t, quick(), heading), "How long a request takes (its latency)")
	md := written(t, "md", faces())
	assert.Contains(t, "md", md, "\n| **get-7** |  |")
	assert.Contains(t, "research", section(t, written(t, "research", faces()), "Results"), "### Published figures next to those measured here\n")

	r := faces()
	r.Findings = append(r.Findings, tare.Finding{Check: "little", Severity: tare.Void, Contender: "gin-default", Workload: visits, Metric: "time", Message: "void"})
	assert.Equal(t, "void", lineOf(t, sectionText(t, r, heading), "gin-default"), "gin-default ~26.19~ ~38,183~ 23.31 3,300 20 –")
}

func TestBothSides(t *testing.T) {
	got := text(t, faces(), Style{Width: 400})
	_, byEngine, _ := strings.Cut(got, "\nWORKLOAD "+visits)
	byEngine, byOwn, found := strings.Cut(byEngine, "\nWORKLOAD "+own+" (by each one's own client)\n")
	if !found {
		t.Fatal("its heading does not say who asks")
	}
	assert.Contains(t, "of the engine", byEngine, "its CPU time and bytes are those of that engine and not of an idiomatic client.\n")
	_, table, _ := strings.Cut(byEngine, "Both sides of one request")
	assert.Equal(t, "head", lineOf(t, table, "contender"), "contender server client server server sent received")
	assert.Equal(t, "row", lineOf(t, table, "gin-default "), "gin-default 23.310 6.350 3,300 20 58 142")
	byOwn, _, _ = strings.Cut(byOwn, "\nWORKLOAD ")
	assert.Contains(t, "traffic", byOwn, ", asked by each contender's own client in a process of its own.\n")
	_, table, _ = strings.Cut(byOwn, "Both sides of one request")
	assert.Contains(t, "of a client", table, "its bytes on the wire are not counted.\n")
	assert.Equal(t, "no wire", lineOf(t, table, "contender"), "contender server client server client server")
	if strings.Contains(byOwn, driverKey+":") {
		t.Error("who asks is said twice")
	}
	drives := sectionText(t, faces(), "HOW THE SERVERS WERE DRIVEN")
	if strings.Contains(drives, "  sent  ") {
		t.Errorf("bytes on the wire are told twice:\n%s", drives)
	}
	assert.Contains(t, "a server's are told once", sectionText(t, tiny(), "HOW THE SERVERS WERE DRIVEN"), "  sent  ")
}

func TestGapOfProfiles(t *testing.T) {
	got := sectionText(t, faces(), "WHERE TIME AND MEMORY WENT")
	for _, want := range []string{
		"What makes the difference in CPU time of gin-default to nethttp on get-7: 23.74 against 11.29 µs/request, 110 % more.\n",
		"What makes the difference in allocated memory of gin-default to nethttp on get-7: 1,908 against 1,290 B/request, 48 % more.\n",
		"  No single function is further apart than sampling alone shows.\n",
	} {
		assert.Contains(t, "text", got, want)
	}
	for start, want := range map[string]string{
		"69 ":  "69 4.58 13.13 system calls",
		"-2 ":  "-2 0.70 0.40 net/http",
		"27 ":  "27 6.01 9.37 all others",
		"83 ":  "83 0 512 gin.LoggerWithConfig.func1",
		"113 ": "113 0 700 fmt",
	} {
		assert.Equal(t, start, lineOf(t, got, start), want)
	}
	assert.Contains(t, "md", written(t, "md", faces()), "| 83 | 0 | 512 | `github.com/gin-gonic/gin.LoggerWithConfig.func1` |")
	assert.Contains(t, "csv", written(t, "csv", faces()), "part: system calls")
	if formatChange(0.5) != "50 % less" || formatChange(0) != noValue {
		t.Error(formatChange(0.5), formatChange(0))
	}
}
