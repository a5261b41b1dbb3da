package document

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// whole is a study of four workloads and the given codecs.
func whole(codecs ...string) tare.Study {
	s := tare.Study{Workloads: works()}
	for _, id := range append([]string{Baseline}, codecs...) {
		s.Contenders = append(s.Contenders, tare.Entry{ID: id})
	}
	return s
}

// costs are the same for all workloads.
func costs(d time.Duration) map[string]float64 {
	out := map[string]float64{}
	for _, w := range works() {
		out[w.ID] = float64(d)
	}
	return out
}

func TestFit(t *testing.T) {
	many := []string{"goccy", "ffjson", "sonic-std", "sonic-default"}
	for name, tt := range map[string]struct {
		study  tare.Study
		cost   time.Duration
		room   time.Duration
		codecs bool
		kept   string // workloads, then contenders
		says   string
	}{
		"short operations": {whole(many...), time.Millisecond, time.Second, true, "any/decode any/encode typed/decode typed/encode encoding-json goccy ffjson sonic-std sonic-default", ""},
		"long ones that fit": {whole(many...), 60 * time.Millisecond, 5 * time.Minute, true,
			"any/decode any/encode typed/decode typed/encode encoding-json goccy ffjson sonic-std sonic-default", ""},
		"no any": {whole(many...), 60 * time.Millisecond, 3 * time.Minute, true, "typed/decode typed/encode encoding-json goccy ffjson sonic-std sonic-default",
			"an operation of encoding/json takes 60 ms, so that the whole would take about 5 minutes: left out are any/decode and any/encode; --budget 5m has room for all"},
		"familiar codecs": {whole(many...), 60 * time.Millisecond, 100 * time.Second, true, "typed/decode typed/encode encoding-json goccy sonic-std",
			"an operation of encoding/json takes 60 ms, so that the whole would take about 5 minutes: left out are any/decode, any/encode, ffjson and sonic-default; --budget 5m has room for all"},
		"the codecs that were chosen": {whole(many...), 60 * time.Millisecond, 100 * time.Second, false, "typed/decode encoding-json goccy ffjson sonic-std sonic-default",
			"an operation of encoding/json takes 60 ms, so that the whole would take about 5 minutes: left out are any/decode, any/encode and typed/encode; --budget 5m has room for all"},
		"the least": {whole("ffjson"), time.Second, time.Second, true, "typed/decode encoding-json ffjson",
			"an operation of encoding/json takes 1 s, so that the whole would take about 39 minutes: left out are any/decode, any/encode and typed/encode; --budget 39m has room for all"},
	} {
		got := Fit(tt.study, costs(tt.cost), tt.room, tt.codecs)
		var kept []string
		for _, w := range got.Study.Workloads {
			kept = append(kept, w.ID)
		}
		for _, e := range got.Study.Contenders {
			kept = append(kept, e.ID)
		}
		if strings.Join(kept, " ") != tt.kept || got.Says != tt.says {
			t.Errorf("%s: kept %s, %s\nwant %s, %s", name, strings.Join(kept, " "), got.Says, tt.kept, tt.says)
		}
		for _, w := range tt.study.Workloads {
			left := slices.ContainsFunc(got.Left, func(l tare.NotWeighed) bool { return l.What == "workload "+w.ID && l.Why != "" })
			if left == slices.Contains(kept, w.ID) {
				t.Errorf("%s: %s is told to be left out: %v", name, w.ID, left)
			}
		}
		if len(tt.study.Workloads) != 4 || len(tt.study.Contenders) == 0 {
			t.Errorf("%s: the study given was changed", name)
		}
	}
	if s := whole("ffjson"); len(Fit(tare.Study{Workloads: s.Workloads[:2], Contenders: s.Contenders}, costs(time.Second), 0, true).Study.Workloads) != 1 {
		t.Error("without a type, decoding into any is what stays")
	}
	if Room(true) >= Room(false) {
		t.Error("quick has more room than full")
	}
}

func TestHolds(t *testing.T) {
	for name, tt := range map[string]struct {
		cost, budget time.Duration
		want         string
	}{
		"short operations": {49 * time.Millisecond, time.Second, ""},
		"room enough":      {100 * time.Millisecond, 3 * time.Minute, ""},
		"too little": {100 * time.Millisecond, 90 * time.Second,
			"a budget of 1m30s has no room for the fewest rounds that a verdict takes on documents so large; --budget 4m would do, and --op and --only make it less"},
	} {
		err := Holds(whole("goccy"), costs(tt.cost), tt.budget)
		if err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
