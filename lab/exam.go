package lab

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab/journal"
)

// Exams run in separate processes, so that their effects on a contender are not in the rounds.
const (
	examLimit     = 5 * time.Second // for one case
	maxExamDeaths = 4               // cases that may end the process before the rest of an operation is skipped
	starts        = 5               // processes started to see how long the first answer takes
)

// runExams runs the kind's exams with every contender that still takes part, and measures how it
// starts. It includes workloads that the budget has no time for: users of a contender use those
// operations too, and the report vouches for its answers. Exams disqualify no contender.
func (r *run) runExams(ctx context.Context) error {
	r.exams = journal.Exams{Semantics: []tare.Semantics{}, Adoption: map[string]tare.Adoption{}}
	k, ok := r.kind.(Examiner)
	if !ok {
		return nil
	}
	exams, err := k.Exams(r.inputDir())
	if err != nil {
		return &StudyError{r.study.ID, err}
	}
	if len(exams) == 0 { // the kind has none for this study
		return nil
	}
	for _, c := range r.contenders {
		if r.dropped[c.ID] || c.Role == tare.RoleControl || c.Role == tare.RoleNull {
			continue
		}
		key := r.knownKey(c.ID, "exam", exams...)
		var found examResult
		if !r.loadKnown(key, &found) {
			r.sendProgress(Event{Phase: "exam", Contender: c.ID})
			var sound bool
			if found, sound, err = r.examineOne(ctx, k, c, exams); err != nil {
				return err
			}
			if sound {
				r.saveKnown(key, found)
			}
		}
		if found.Semantics != nil {
			found.Semantics.Contender = c.ID
			r.exams.Semantics = append(r.exams.Semantics, *found.Semantics)
		}
		r.exams.Adoption[c.ID] = found.Adoption
	}
	return nil
}

// examineOne runs all exams with contender c. The result is sound if its process ended in none of
// them: that may have had another reason.
func (r *run) examineOne(ctx context.Context, k Examiner, c tare.Contender, exams []wire.Workload) (examResult, bool, error) {
	x := &examination{run: r, kind: k, id: c.ID, able: map[string]bool{}, found: tare.Semantics{
		Contender: c.ID, Reference: k.Reference(), Differences: []tare.Difference{},
	}}
	var out examResult
	if c.Role != tare.RoleApart { // which means something else by its answers
		if err := x.takeExams(ctx, exams); err != nil {
			return out, false, err
		}
		out.Semantics = &x.found
	}
	var err error
	out.Adoption, err = r.measureStarts(ctx, c.ID, exams)
	return out, x.deaths == 0 && out.Adoption.StartSeconds > 0, err
}

// examination is the state of one contender's exams.
type examination struct {
	run     *run
	kind    Examiner
	id      string
	found   tare.Semantics
	session *trial.Session // nil means none is open

	prepared string          // id of the exam that session is prepared for
	unable   []string        // operations of exams that it could not take
	able     map[string]bool // operations of exams that it could
	deaths   int             // processes that ended in an exam
	differed map[string]firstDifference
}

// firstDifference records how a case was first found to differ.
type firstDifference struct {
	op    string
	class tare.DifferenceClass
}

// isReported reports whether the case came out differently in an earlier exam on the same fixture,
// and no less gravely: a wrongly written value is also read back wrongly, and is reported once.
func (x *examination) isReported(exam wire.Workload, d tare.Difference) bool {
	key := exam.Fixture + " " + d.Case
	before, seen := x.differed[key]
	if !seen || before.op != exam.Op && d.Class.Graver(before.class) {
		if x.differed == nil {
			x.differed = map[string]firstDifference{}
		}
		x.differed[key] = firstDifference{exam.Op, d.Class}
		return false
	}
	return before.op != exam.Op
}

// takeExams runs the exams one after another and always closes the process.
func (x *examination) takeExams(ctx context.Context, exams []wire.Workload) error {
	defer x.close(ctx)
	for _, exam := range exams {
		if err := x.takeExam(ctx, exam); err != nil {
			return err
		}
	}
	for _, op := range x.unable { // with code for one type, encoding works for that type but not for any
		if !x.able[op] {
			x.found.Unsupported = append(x.found.Unsupported, op)
		}
	}
	return nil
}

// takeExam requests the cases of one exam one by one, so that a case that ends the process is known
// and the others are still requested.
func (x *examination) takeExam(ctx context.Context, exam wire.Workload) error {
	deaths := 0
	for i := range exam.Bodies {
		able, err := x.openPrepared(ctx, exam)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && i > 0 { // it died of the case before and does not come back
			return nil
		}
		if err != nil || !able {
			x.unable = append(x.unable, exam.Op)
			x.close(ctx)
			return nil
		}
		x.able[exam.Op] = true
		answers, err := x.session.Answer(ctx, exam.ID, []int{i})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a := wire.Answer{Case: i}
		var te *tare.TrialError
		switch {
		case err == nil:
			a = answers[0]
		case errors.As(err, &te) && te.Class == tare.ErrContender: // it reports that itself, and lives
			a.Error = oneLine(te.Message)
		default:
			a.Error = "the process ended: " + oneLine(err.Error())
			x.close(ctx)
			deaths++
			x.deaths++
		}
		x.found.Cases++
		if d, differs := x.kind.Differ(exam, a); differs && !x.isReported(exam, d) {
			x.found.Differences = append(x.found.Differences, d)
		}
		if deaths == maxExamDeaths {
			return nil
		}
	}
	return nil
}

// openPrepared opens a process if there is none, prepares exam in it, and reports whether the
// contender can take it.
func (x *examination) openPrepared(ctx context.Context, exam wire.Workload) (bool, error) {
	if x.session == nil {
		s, err := x.run.openTrial(ctx, x.id, "exam")
		if err != nil {
			return false, err
		}
		s.Limit = func(op string, expected time.Duration) time.Duration {
			if op == wire.OpAnswer {
				return examLimit
			}
			return trial.Deadline(op, expected)
		}
		x.session, x.prepared = s, ""
	}
	if x.prepared == exam.ID {
		return true, nil
	}
	a, err := x.session.Prepare(ctx, x.run.withSet(x.id, exam))
	if err != nil || a.Unsupported {
		return false, err
	}
	x.prepared = exam.ID
	return true, nil
}

func (x *examination) close(ctx context.Context) {
	if x.session != nil {
		x.session.Close(context.WithoutCancel(ctx))
		x.session = nil
	}
}

// measureStarts measures how contender id starts: the time from starting a process to its first
// answer, and its memory in between, medians over some processes. Values are 0 if they cannot be
// read.
func (r *run) measureStarts(ctx context.Context, id string, exams []wire.Workload) (tare.Adoption, error) {
	var seconds []float64
	var memory []int64
	for range starts {
		took, resident, ok := r.startOnce(ctx, id, exams)
		if ctx.Err() != nil {
			return tare.Adoption{}, ctx.Err()
		}
		if !ok {
			return tare.Adoption{}, nil
		}
		seconds, memory = append(seconds, took.Seconds()), append(memory, resident)
	}
	slices.Sort(seconds)
	slices.Sort(memory)
	return tare.Adoption{StartSeconds: seconds[starts/2], IdleRSSBytes: memory[starts/2]}, nil
}

// startOnce starts one process of contender id and requests the first case of the first exam it can
// take.
func (r *run) startOnce(ctx context.Context, id string, exams []wire.Workload) (took time.Duration, resident int64, ok bool) {
	began := r.o.Now()
	s, err := r.openTrial(ctx, id, "start")
	if err != nil {
		return 0, 0, false
	}
	defer s.Close(context.WithoutCancel(ctx))
	opened := r.o.Now()
	resident, _ = machine.Resident(s.PID)
	looked := r.o.Now().Sub(opened)
	for _, exam := range exams {
		if a, err := s.Prepare(ctx, r.withSet(id, exam)); err != nil {
			return 0, 0, false
		} else if a.Unsupported {
			continue
		}
		_, err := s.Answer(ctx, exam.ID, []int{0})
		return r.o.Now().Sub(began) - looked, resident, err == nil
	}
	return 0, 0, false
}
