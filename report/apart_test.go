package report

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// peers returns tiny as a study of batches in which own stands apart and another peer is not
// installed.
func peers() *tare.Result {
	r := tiny()
	r.Study, r.Question = "ingest", "What does it take to take in events?"
	r.Workloads[0].Fixture, r.Workloads[0].N = "ingest", 10
	for i := range r.Contenders {
		if c := &r.Contenders[i]; c.ID == "own" {
			c.Role, c.Path, c.Delivers, c.Files = tare.RoleApart, "/in", "$DIR/out*.log", map[string]string{"own.conf": "port $PORT"}
		}
	}
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Contender == "own" {
			c.RankLow, c.RankHigh, c.Letters = 0, 0, ""
		}
	}
	for i := range r.Conformance {
		if c := &r.Conformance[i]; c.Contender == "own" && c.Probe {
			c.Wrong, c.Unrefused = 2, []string{"case 1, PUT /: want status 405, got 200", "case 3, POST /: want status 400, got 200"}
		}
	}
	for _, t := range r.Trials {
		if s := t.Samples[visits]; t.Contender == "nethttp" {
			s[tare.KeyReceivedSent], s[tare.KeyDeliveredAsked] = 100, 800 // of 6 to 10 items each
		}
	}
	var costs []tare.Cost
	for _, c := range r.Cost {
		if c.Contender != "own" {
			costs = append(costs, c)
		}
	}
	r.Cost = costs
	r.Verdicts[3].Sentence = strings.TrimSuffix(r.Verdicts[3].Sentence, ".") + " (apart: only the status of its responses was checked)."
	r.Contenders = append(r.Contenders, tare.Contender{ID: "fluentd", Kind: "server", Role: tare.RoleApart, Start: tare.Start{Launch: tare.LaunchCommand, Command: []string{"fluentd"}}, Error: tare.NotInstalled([]string{"fluentd"})})
	r.Findings = append(r.Findings,
		tare.Finding{Check: "build", Severity: tare.Note, Contender: "fluentd", Message: "not installed: fluentd", Advice: "install what is missing"},
		tare.Finding{Check: "negative-probe", Severity: tare.Note, Contender: "own", Message: "it stands apart, and 2 of 5 probes were not refused", Advice: "keep it in mind"})
	claim := func(id string, kind tare.ClaimKind, who, workload, metric string, published, measured, low, high float64, o tare.Outcome, why string) {
		r.Claims = append(r.Claims, tare.ClaimResult{ID: id, Kind: kind, Source: "tiny Go service write-up", Statement: id + " was said", Evidence: "this run", Contender: who, Workload: workload, Metric: metric, Published: published, Measured: measured, Low: low, High: high, Outcome: o, Why: why})
	}
	claim("F1.6", tare.ClaimShare, "own", visits, "cpu", 0.5, 0.622, 0.604, 0.64, tare.Holds, "claimed 50 % or more, measured 62 %")
	claim("F1.6-less", tare.ClaimShare, "own", visits, "time", 0.5, -0.17, -0.19, -0.15, tare.Refuted, "claimed 50 % or more, measured −17 %")
	claim("F1.6-early", tare.ClaimShare, "own", visits, "time", 0.5, 0.4, 0, 0, tare.ClaimOpen, "no interval after 3 rounds")
	claim("F1.1/gae", tare.ClaimReported, "", "", "", 407, 0, 0, 0, tare.NotMeasured, "it runs elsewhere")
	r.Claims[len(r.Claims)-1].Unit = "requests/s"
	claim("F1.3", tare.ClaimReported, "", "", "", 0, 0, 0, 0, tare.NotMeasured, "it is about other machines")
	claim("F1.1/fluentd", tare.ClaimRatio, "fluentd", visits, "time", 1.46, 0, 0, 0, tare.NotMeasured, "fluentd is not installed: fluentd")
	return r
}

func TestWhoStandsApart(t *testing.T) {
	got := text(t, peers(), Style{Width: 400})
	top, rest, _ := strings.Cut(got, "\nWORKLOAD")
	if strings.Contains(top, "FOUND         own") {
		t.Error("it is among the headlines")
	}
	assert.Contains(t, "at the top", top, "APART         own takes 1.17× the time of nethttp on get-7 (1.15 to 1.18, 95 %, 27 rounds): 17 % more time (apart: only the status of its responses was checked).")
	assert.Equal(t, "in the table", lineOf(t, rest, "own "), "own 1.170 [1.154, 1.185] – 15.24 65,617 13.070 1.634 6.140 – 25.4")
	assert.Contains(t, "beneath its row", rest, "\n    started by: ./srv -port $PORT\n    apart: only the status of its responses was checked\n")
	ranked, _, _ := strings.Cut(rest, "\n  own ")
	assert.Contains(t, "after those that are ranked", ranked, "\n  gin-default")
	assert.Contains(t, "explained", sectionText(t, peers(), "HOW TO READ THIS"), "apart        only the status of its responses was checked")
	assert.Contains(t, "the ratios of other measures", got, "\n  own                  1.166 [1.151, 1.181]")
	assert.Contains(t, "how it was driven", sectionText(t, peers(), "HOW THE SERVERS WERE DRIVEN"), "\n  own ")
	if strings.Contains(sectionText(t, peers(), "WHAT THE DIFFERENCE COMES TO"), "\n  own ") {
		t.Error("its cost is shown as an alternative")
	}
	research := written(t, "research", peers())
	for _, heading := range []string{"Recommendation", "Trade-offs"} {
		if regexp.MustCompile(`\bown\b`).MatchString(section(t, research, heading)) {
			t.Errorf("it is among the %s", heading)
		}
	}
	assert.Contains(t, "research", section(t, research, "Objective"), "own: apart, as it does another job or part of one; of its answers only the status was checked, and it is never ranked")
	assert.Contains(t, "markdown", written(t, "md", peers()), "- **apart**: own takes 1.17×")
	bench := written(t, "benchfmt", peers())
	assert.Contains(t, "benchfmt", bench, "# own: started by: ./srv -port $PORT; apart: only the status of its responses was checked\n")
	assert.Contains(t, "its rounds", bench, "/contender=own\t")
	for _, row := range rowsOf(t, peers()) {
		if row["contender"] == "own" && (row["role"] != "apart" || row["rank_low"] != "") {
			t.Fatalf("a row of it: %v", row)
		}
	}
}

func TestManyStandApart(t *testing.T) {
	r := peers()
	for range maxAsides {
		r.Verdicts = append(r.Verdicts, r.Verdicts[3])
	}
	assert.Slices(t, "asides", describeAsides(r), []string{"own: answers by status only, so that they are compared and not ranked; 7 statements about them are left out here: the tables have their figures."})
}

// A contender that is not installed has no row, and the reports list it as left out.
func TestWhoIsNotInstalled(t *testing.T) {
	got := text(t, peers(), Style{Width: 400})
	for _, line := range strings.Split(got, "\n") {
		if strings.HasPrefix(line, "  fluentd") {
			t.Errorf("it has a row: %s", line)
		}
	}
	assert.Contains(t, "left out", got, "\n  Not installed: fluentd: contender fluentd.\n")
	assert.Contains(t, "the finding", got, "NOTE  build · fluentd: not installed: fluentd\n")
	assert.Contains(t, "markdown", written(t, "md", peers()), "\n- Not installed: fluentd: contender fluentd.\n")
	assert.Contains(t, "research", written(t, "research", peers()), "- fluentd: left out; not installed: fluentd\n")
	if strings.Contains(written(t, "research", peers()), "could not be built") {
		t.Error("it is said to have failed")
	}
}

func TestPerItem(t *testing.T) {
	got := text(t, peers(), Style{Width: 400})
	_, got, _ = strings.Cut(got, "\nWORKLOAD")
	assert.Equal(t, "head", lineOf(t, got, "contender"), "contender time / nethttp rank, time rate cpu cpu/event client-cpu allocs rss")
	assert.Equal(t, "1,401 ns each", lineOf(t, got, "nethttp (baseline)"), "nethttp (baseline) 1 1 a 13.03 76,746 11.210 1.401 6.120 12 25.2")
	if strings.Count(got, "cpu/event") != 2 { // the column and its word
		t.Errorf("where requests carry no items there is a column:\n%s", got)
	}
	r := peers()
	for i := range r.Values {
		r.Values[i].Value *= 100
	}
	r.Workloads[0].Fixture = "devices"
	_, got, _ = strings.Cut(text(t, r, Style{Width: 400}), "\nWORKLOAD")
	assert.Contains(t, "large", lineOf(t, got, "nethttp (baseline)"), " 140.12 ")
	assert.Contains(t, "items", lineOf(t, got, "contender"), " cpu cpu/item ")
	for _, tr := range r.Trials { // nobody counted
		delete(tr.Samples[visits], tare.KeyDeliveredAsked)
	}
	if strings.Contains(text(t, r, Style{Width: 400}), "cpu/item") {
		t.Error("of items that nobody counted")
	}
	for want, w := range map[string]tare.Workload{
		"What is asked: events of ingest, 1 event per request.":                   {Fixture: "ingest", Op: "events", N: 1, Traffic: &tare.Traffic{}},
		"What is asked: events-uniform of ingest, 10 events per request at most.": {Fixture: "ingest", Op: "events-uniform", N: 10, Traffic: &tare.Traffic{}},
		"What is asked: mix of homelab, 50 devices in the house.":                 {Fixture: "homelab", Op: "mix", N: 50, Traffic: &tare.Traffic{}},
		"What is asked: get of users, 1,000 users in the store.":                  {Fixture: "users", Op: "get", N: 1000, Traffic: &tare.Traffic{}},
		"What is asked: play of chess, 2 games per request at most.":              {Fixture: "chess", Op: "play", N: 2, Traffic: &tare.Traffic{}, Counts: &tare.Counts{One: "game", Most: true}},
		"What is asked: open of chess, 1 game in the hall.":                       {Fixture: "chess", Op: "open", N: 1, Traffic: &tare.Traffic{}, Counts: &tare.Counts{One: "game", In: "the hall"}},
		"What is asked: pawn of chess, 3 items per request.":                      {Fixture: "chess", Op: "pawn", N: 3, Traffic: &tare.Traffic{}},
	} {
		assert.Equal(t, "asked", describeWorkload(r, w), want)
	}
	found := 0
	for _, row := range rowsOf(t, peers()) {
		if row["section"] != "item" {
			continue
		}
		found++
		if row["contender"] == "nethttp" {
			assert.Equal(t, "row", [5]string{row["workload"], row["metric"], row["unit"], row["value"], row["text"]}, [5]string{visits, "cpu_per_item", "ns", "1401.25", "one event"})
		}
	}
	assert.Equal(t, "rows", found, len(servers()))
}

func TestSharesAndReports(t *testing.T) {
	got := sectionText(t, peers(), "PUBLISHED CLAIMS")
	assert.Equal(t, "a share", lineOf(t, got, "F1.6 "), "F1.6 holds cpu, share 50 % 62 % [60 %, 64 %]")
	assert.Equal(t, "a negative one", lineOf(t, got, "F1.6-less"), "F1.6-less refuted time, share 50 % -17 % [-19 %, -15 %]")
	assert.Equal(t, "an early one", lineOf(t, got, "F1.6-early"), "F1.6-early inconclusive time, share 50 % 40 % [no interval yet]")
	assert.Equal(t, "a figure", lineOf(t, got, "F1.1/gae"), "F1.1/gae reported, not measured – 407 requests/s –")
	assert.Equal(t, "a sentence", lineOf(t, got, "F1.3"), "F1.3 reported, not measured – – –")
	assert.Contains(t, "its words", got, "F1.1/gae was said (–)")
	assert.Contains(t, "its reason", got, "why: it runs elsewhere")
	assert.Contains(t, "explained", got, "What is only reported was published, and nothing here measures it.")
	assert.Contains(t, "at the top", text(t, peers(), Style{Width: 400}), "reported, not measured: F1.1/gae, F1.3; not measured: F1.1/fluentd")
	assert.Contains(t, "markdown", written(t, "md", peers()), "| F1.1/gae | F1.1/gae was said |  | reported, not measured |")
	for _, row := range rowsOf(t, peers()) {
		if row["section"] == "claim" && strings.HasPrefix(row["claims"], "F1.1/gae") {
			assert.Equal(t, "row", [4]string{row["claims"], row["metric"], row["value"], row["unit"]}, [4]string{"F1.1/gae: reported, not measured", "published", "407", "requests/s"})
		}
	}
}
