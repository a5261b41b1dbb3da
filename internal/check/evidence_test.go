package check

import (
	"testing"

	"github.com/tarebench/tare"
)

func TestBuild(t *testing.T) {
	in := soundStudy()
	wantNone(t, "build", in)
	in.Contenders[3].Error = "main.go:7:2: no required module provides package example.org/lean"
	wantFinding(t, "build", in, tare.Void, "lean", "", "could not be built: main.go:7:2: no required module provides package example.org/lean")
}

func TestTrial(t *testing.T) {
	for class, want := range map[string]string{
		tare.ErrStart:     "did not start in round 1: m",
		tare.ErrDeadline:  "hung in round 1: m",
		tare.ErrExit:      "died in round 1: m",
		tare.ErrProtocol:  "broke the protocol in round 1: m",
		tare.ErrMemory:    "took too much memory in round 1: m",
		tare.ErrOutput:    "flooded its output in round 1: m",
		tare.ErrContender: "gave up in round 1: m",
		"odd":             "failed (odd) in round 1: m",
	} {
		in := soundStudy()
		wantNone(t, "trial", in)
		in.Trials[3].Error = &tare.TrialError{Class: class, Message: "m"}
		wantFinding(t, "trial", in, tare.Void, "lean", "", want)
	}
	in := soundStudy()
	in.Trials = append([]tare.Trial{{Contender: "lean", Error: &tare.TrialError{Class: tare.ErrExit, Message: "m"}}}, in.Trials...)
	wantFinding(t, "trial", in, tare.Void, "lean", "", "died in the pilot: m")
	in.Trials[4].Error = &tare.TrialError{Class: tare.ErrDeadline, Message: "n"}
	wantFinding(t, "trial", in, tare.Void, "lean", "", "died in the pilot: m (and in 1 trial more)")
}

func TestIdentity(t *testing.T) {
	in := soundStudy()
	wantNone(t, "identity", in)
	in.Contenders[4].Identity.MissingSymbols = []string{"MarshalJSONBuf"}
	wantFinding(t, "identity", in, tare.Void, "trap", "", "the binary lacks a function named like MarshalJSONBuf, which it is claimed to contain")
	in.Contenders[4].Identity.MissingModules = []string{"example.org/fast@v1.2.0"}
	wantFinding(t, "identity", in, tare.Void, "trap", "", "the binary lacks module example.org/fast@v1.2.0, a function named like MarshalJSONBuf, which it is claimed to contain")
	in.Contenders[4].Error = "could not" // there is no binary to look into
	wantNone(t, "identity", in)
}

func TestWrongAnswer(t *testing.T) {
	in := soundStudy()
	wantNone(t, "wrong-answer", in)
	in.Conformance[3].Wrong, in.Conformance[3].First = 2, "case 7: unexpected end of JSON input"
	wantFinding(t, "wrong-answer", in, tare.Void, "lean", load, "2 of 64 answers are wrong; the first: case 7: unexpected end of JSON input")
	again := in.Conformance[3]
	again.Cases, again.Wrong = 2, 1
	in.Conformance = append(in.Conformance, again)
	wantFinding(t, "wrong-answer", in, tare.Void, "lean", load, "3 of 66 answers are wrong; the first: case 7: unexpected end of JSON input")
	in.Conformance = []tare.Conformance{{Contender: "lean", Workload: load, Cases: 1, Wrong: 1}}
	wantFinding(t, "wrong-answer", in, tare.Void, "lean", load, "1 of 1 answer is wrong")
}

func TestErrorInLoop(t *testing.T) {
	in := soundStudy()
	wantNone(t, "error-in-loop", in)
	total := int64(0)
	for i := range in.Slices {
		if in.Slices[i].Contender == "lean" {
			total += in.Slices[i].Ops
		}
	}
	for i := range in.Slices {
		if in.Slices[i].Contender == "lean" { // a single one
			in.Slices[i].Errors = 1
			break
		}
	}
	if total != 12000 {
		t.Fatalf("%d operations in the made-up study, want 12000", total)
	}
	wantFinding(t, "error-in-loop", in, tare.Void, "lean", load, "1 of 12000 timed operations returned an error")
	in.Trials[0].Evidence.FirstError = "of somebody else"
	in.Trials[3].Evidence.FirstError = "type not registered"
	wantFinding(t, "error-in-loop", in, tare.Void, "lean", load, "1 of 12000 timed operations returned an error; the first: type not registered")
}

func TestAllocFloor(t *testing.T) {
	set := func(in Input, contender string, bytes func(round int) float64) Input {
		for i := range in.Trials {
			if t := &in.Trials[i]; t.Contender == contender {
				t.Samples = map[string]tare.Sample{load: {"bytes_per_op": bytes(t.Round)}}
			}
		}
		return in
	}
	wantNone(t, "alloc-floor", soundStudy())
	wantNone(t, "alloc-floor", set(soundStudy(), "lean", func(int) float64 { return 11598 })) // just the answer
	low := set(soundStudy(), "lean", func(int) float64 { return 64 })
	wantFinding(t, "alloc-floor", low, tare.Void, "lean", load, "allocates at most 64 B/op in any round, but hands out a fresh value of at least 11598 B")
	wantNone(t, "alloc-floor", set(soundStudy(), "lean", func(round int) float64 { return float64(round) * 1000 })) // some rounds reach it
	wantNone(t, "alloc-floor", set(soundStudy(), tare.NullID, func(int) float64 { return 0 }))
	null := soundStudy()
	null.Conformance[2].Fresh = true
	wantNone(t, "alloc-floor", null) // exempt, whatever it declares
	low.Conformance[3].Fresh = false
	wantNone(t, "alloc-floor", low) // writes into something reused
	none := soundStudy()
	none.Trials = nil
	wantNone(t, "alloc-floor", none)
}

func TestNullShare(t *testing.T) {
	in := soundStudy()
	wantNone(t, "null-share", in) // 12 of 30000 ns
	set := func(id, metric string, v float64, struck bool) {
		in.Values = append(in.Values, tare.Value{Workload: load, Contender: id, Metric: metric, Unit: "B/op", Value: v, Struck: struck})
	}
	set(base, "bytes", 1128, false)
	set("lean", "bytes", 1064, false)
	set("trap", "bytes", 1, false)
	set(tare.NullID, "bytes", 1000, false)
	wantFinding(t, "null-share", in, tare.Note, "", load, "the harness itself takes 1000 of the 1064 B/op of lean (94 %)")
	in.Values[len(in.Values)-1].Value = 50
	wantNone(t, "null-share", in)
	set(tare.ControlID, "bytes", 51, false)
	wantNone(t, "null-share", in)
}

func TestMachine(t *testing.T) {
	in := soundStudy()
	wantNone(t, "machine", in)
	in.Machine.Noise.CPUPressure = 0.37
	wantFinding(t, "machine", in, tare.Warn, "", "", "37 % of the time some task waited for a processor; more than 10 % is worth a warning")
	in.Final = false
	wantNone(t, "machine", in)
	in = soundStudy()
	in.Machine.Noise = tare.Noise{CPUPressure: -1, RunQueueWait: 0.061, Throttled: -1}
	wantFinding(t, "machine", in, tare.Warn, "", "", "6.1 % of their time the contenders waited to run; more than 5 % is worth a warning")
	in.Machine.Noise = tare.Noise{CPUPressure: 0.1, RunQueueWait: 0.05, Throttled: 0.02}
	wantFinding(t, "machine", in, tare.Warn, "", "", "2 % of the time a CPU quota stopped the contenders; more than 1 % is worth a warning")
	in = soundStudy() // tare's own processes may wait for each other
	quiet, busy := 0.05, 0.051
	in.Machine.Noise = tare.Noise{CPUPressure: 0.9, RunQueueWait: 0.5, Throttled: -1, OtherCPU: &quiet}
	wantNone(t, "machine", in)
	in.Machine.Noise.OtherCPU = &busy
	wantFinding(t, "machine", in, tare.Warn, "", "", "5.1 % of the processors' time went to other programs; more than 5 % is worth a warning")
	in = soundStudy()
	in.Machine.Unlocked = true
	wantFinding(t, "machine", in, tare.Note, "", "", "no machine lock was held: another tare may have measured at the same time")

	for _, f := range []struct{ name, good, bad, says string }{
		{"power supply", "mains", "battery", "the machine runs on its battery"},
		{"cpu governor", "performance", "powersave", "the processor's governor is powersave: its clock follows the load"},
		{"kinds of cores", "one", "2", "the cores are not alike (2): a contender may run on a slow one"},
	} {
		in = soundStudy()
		in.Machine.Facilities = []tare.Facility{{Name: f.name, Found: true, Note: f.good}}
		wantNone(t, "machine", in)
		in.Machine.Facilities[0].Note = f.bad
		wantFinding(t, "machine", in, tare.Warn, "", "", f.says)
	}

	// A null contender with company, and one that waited.
	in = soundStudy()
	in.Values = []tare.Value{
		{Workload: load, Contender: tare.NullID, Metric: "time", Value: 5.2},
		{Workload: load, Contender: tare.NullID, Metric: "cpu", Value: 6.032},
	}
	wantFinding(t, "machine", in, tare.Note, "", "", "the null contender used 16 % more CPU time than time passed (6.03 ns in 5.2 ns): other threads of the runtime ran next to it, or the machine's clocks disagree")
	in.Values[1].Value = 5.1
	wantNone(t, "machine", in)
}

func TestCutShort(t *testing.T) {
	in := soundStudy()
	in.Plan.Slices = []tare.Slicing{{Workload: load, Cycles: map[string]int64{"lean": 2}}}
	in.Slices = nil
	for i := range 100 {
		in.Slices = append(in.Slices,
			tare.Slice{Index: i, Tau: 1, Workload: load, Contender: "lean", GC: 2},
			tare.Slice{Index: i, Tau: 1, Workload: load, Contender: "base"}) // does not allocate
	}
	in.Slices[0].GC = 1
	wantNone(t, "cut-short", in)
	in.Slices[2].GC = 0
	wantFinding(t, "cut-short", in, tare.Warn, "lean", load, "2 of 100 slices (2 %) were cut off before their collection cycles were over")
	in.Slices[0].GC, in.Slices[2].GC = 8, 16
	for i := range in.Slices {
		in.Slices[i].Tau = 8
	}
	wantFinding(t, "cut-short", in, tare.Warn, "lean", load, "99 of 100 slices (99 %) were cut off before their collection cycles were over")
}
