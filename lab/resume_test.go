package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/journal"
	"github.com/tarebench/tare/lab/labtest"
)

// unsound is script with a contender that cannot start and one that begins to
// answer wrong in the third round; others fail in single rounds, as the baseline
// does, or in two in a row.
func unsound() labtest.Script {
	s := script()
	failing(s, "base", 7)
	failing(s, "lean", 5, 11)
	s.Contenders["twice"] = s.Contenders["lean"]
	failing(s, "twice", 4, 5)
	errs := s.Contenders["lean"]
	errs.FailRounds, errs.Errors, errs.ErrorRounds = nil, 1, []int{9}
	s.Contenders["errs"] = errs
	s.Contenders["late"] = labtest.Act{NSPerOp: 30e3, Spread: 0.05, BytesPerOp: 20000, AllocsPerOp: 200, CycleNS: 4e6, Wrong: "nonsense", WrongRound: 3}
	s.Contenders["dead"] = labtest.Act{NSPerOp: 30e3, FailPilot: true, FailClass: tare.ErrExit, FailMessage: "made up"}
	return s
}

// A run that is killed anywhere loses at most the round in flight, and the
// resumed run finds what the whole one found.
func TestResumeFindsTheSame(t *testing.T) {
	s := study()
	s.Contenders = append(s.Contenders, tare.Entry{ID: "late"}, tare.Entry{ID: "dead"}, tare.Entry{ID: "twice"}, tare.Entry{ID: "errs"})
	s.Criteria[0].Contender = "" // of all of them
	whole := options(t, unsound())
	whole.Rounds = 12
	want, err := lab.Run(context.Background(), s, whole)
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(filepath.Join(whole.Dir, journal.FileName))
	if err != nil {
		t.Fatal(err)
	}
	done := strings.LastIndex(string(src), `{"done"`)
	cuts := 13
	if os.Getenv("TARE_SOAK") != "" {
		cuts = 130
	}
	for i := range cuts {
		cut := done * (i + 1) / cuts
		if i == cuts-1 {
			cut = len(src) // killed after its end, before the result was kept
		}
		o := options(t, unsound())
		o.Rounds, o.Resume, o.Seed = 12, true, 0
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(o.Dir, journal.FileName), src[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		before := 0
		for line := range strings.Lines(string(src[:cut])) {
			if strings.HasPrefix(line, `{"round"`) && strings.HasSuffix(line, "\n") {
				before++
			}
		}
		measured := 0
		o.Progress = func(e lab.Event) {
			if e.Phase == "round" {
				measured++
			}
		}
		got, err := lab.Run(context.Background(), s, o)
		if cut < strings.Index(string(src), "\n") {
			if err == nil {
				t.Fatal("a journal without a head was resumed")
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if got.RoundsDone != 12 || measured > 12-before {
			t.Fatalf("cut at %d after %d whole rounds: %d rounds, %d of them measured again", cut, before, got.RoundsDone, measured)
		}
		if _, after, planned := strings.Cut(string(src[:cut]), "\n{\"plan\""); !planned || !strings.Contains(after, "\n") {
			continue // another seed
		}
		a, b := timeless(t, got), timeless(t, want)
		for key, v := range b {
			if !reflect.DeepEqual(a[key], v) {
				t.Fatalf("cut at %d: the resumed run has other %s:\n%+v\nwant\n%+v", cut, key, a[key], v)
			}
		}
	}
}

// timeless is a result's document without the times that depend on when it was
// interrupted.
func timeless(t *testing.T, r *tare.Result) map[string]any {
	t.Helper()
	src, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "seconds")
	delete(doc, "started")
	delete(doc, "machine")
	return doc
}

func TestAnotherStudysJournalIsNotResumed(t *testing.T) {
	o := options(t, script())
	o.Rounds = 8
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(e lab.Event) {
		if e.Phase == "round" && e.Round == 3 {
			cancel()
		}
	}
	if _, err := lab.Run(ctx, study(), o); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	o.Resume, o.Progress = true, nil
	unread := o
	unread.Dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(unread.Dir, journal.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	var re *lab.ResumeError
	if _, err := lab.Run(context.Background(), study(), unread); err == nil || errors.As(err, &re) {
		t.Errorf("a journal that cannot be read: %v, want another error than a ResumeError", err)
	}
	other := study()
	other.Criteria[0].Ratio = "<= 0.7"
	if _, err := lab.Run(context.Background(), other, o); !errors.As(err, &re) {
		t.Errorf("another study: %v, want a ResumeError", err)
	}
	o.Rounds = 9
	if _, err := lab.Run(context.Background(), study(), o); !errors.As(err, &re) {
		t.Errorf("another number of rounds: %v, want a ResumeError", err)
	}
	o.Rounds = 8
	if _, err := lab.Run(context.Background(), study(), o); err != nil {
		t.Errorf("the same study: %v", err)
	}
}

func TestStopFinishesTheRoundAndJudges(t *testing.T) {
	o := options(t, script())
	o.Rounds = 30
	stop := make(chan struct{})
	o.Stop = stop
	o.Progress = func(e lab.Event) {
		if e.Phase == "round" && e.Round == 9 {
			close(stop)
		}
	}
	r, err := lab.Run(context.Background(), study(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Stopped != lab.Interrupted || r.RoundsDone != 9 || len(r.Verdicts) == 0 {
		t.Errorf("stopped %q after %d rounds with %d verdicts; want interrupted, 9, some", r.Stopped, r.RoundsDone, len(r.Verdicts))
	}
}

// What somebody stopped can be gone on with; what came to its end cannot.
func TestAStoppedRunIsResumed(t *testing.T) {
	o := options(t, script())
	o.Rounds = 12
	stop := make(chan struct{})
	o.Stop = stop
	o.Progress = func(e lab.Event) {
		if e.Phase == "round" && e.Round == 5 {
			close(stop)
		}
	}
	if _, err := lab.Run(context.Background(), study(), o); err != nil {
		t.Fatal(err)
	}
	o.Stop, o.Progress, o.Resume = nil, nil, true
	r, err := lab.Run(context.Background(), study(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.RoundsDone != 12 || r.Stopped != lab.RoundsDone {
		t.Errorf("resumed to %d rounds, stopped %q; want 12, rounds", r.RoundsDone, r.Stopped)
	}
	if !slices.Equal(r.Plan.Looks, []int{5, 12}) {
		t.Errorf("judged after %v rounds; want 5, where it was stopped, and 12", r.Plan.Looks)
	}
	log, err := journal.Read(filepath.Join(o.Dir, journal.FileName))
	if err != nil || len(log.Rounds) != 12 || log.Done == nil {
		t.Errorf("journal: %d rounds, done %v, error %v", len(log.Rounds), log.Done, err)
	}
}
