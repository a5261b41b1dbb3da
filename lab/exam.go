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

// An exam tests how a contender answers edge cases in which implementations are known to differ. Exams
// run in separate processes, so that they do not affect the rounds. Only the start of a process is
// timed.
const (
	examLimit      = 5 * time.Second // limit for one case
	maxExamExits   = 4               // processes that may end in one exam before it is given up
	startProcesses = 5               // processes that measure the time to the first answer
)

// runExams runs the kind's exams with every contender, and measures starts. It also tests operations
// that the budget has no time to measure, because users need them. Exams disqualify no contender.
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
	if len(exams) == 0 {
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
			var reusable bool
			if found, reusable, err = r.examineOne(ctx, k, c, exams); err != nil {
				return err
			}
			if reusable {
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

// examineOne runs all exams with contender c. reusable means that later runs may use the result. It
// is false if a process ended, because its end may have another cause than the exam.
func (r *run) examineOne(ctx context.Context, k Examiner, c tare.Contender, exams []wire.Workload) (result examResult, reusable bool, err error) {
	x := &examination{run: r, kind: k, id: c.ID, supported: map[string]bool{}, found: tare.Semantics{
		Contender: c.ID, Reference: k.Reference(), Differences: []tare.Difference{},
	}}
	if c.Role != tare.RoleApart { // only the status of its answers is comparable
		if err := x.runAll(ctx, exams); err != nil {
			return result, false, err
		}
		result.Semantics = &x.found
	}
	result.Adoption, err = r.measureStarts(ctx, c.ID, exams)
	return result, x.exits == 0 && result.Adoption.StartSeconds > 0, err
}

type examination struct {
	run     *run
	kind    Examiner
	id      string
	found   tare.Semantics
	session *trial.Session // nil if none is open

	prepared    string                     // id of the exam that session is prepared for
	unsupported []string                   // operations that the contender could not prepare
	supported   map[string]bool            // operations that it did prepare
	exits       int                        // processes that ended during an exam
	differed    map[string]firstDifference // by fixture and case
}

// firstDifference is the operation in which a case was first found to differ.
type firstDifference struct {
	op    string
	class tare.DifferenceClass
}

// wasReported reports whether another operation has found the difference d, at least as severe. If
// not, it records d. For example, a value that is encoded wrongly is also decoded wrongly, but
// reported once.
func (x *examination) wasReported(exam wire.Workload, d tare.Difference) bool {
	key := exam.Fixture + " " + d.Case
	first, seen := x.differed[key]
	isOtherOp := seen && first.op != exam.Op
	if !seen || isOtherOp && d.Class.Graver(first.class) {
		if x.differed == nil {
			x.differed = map[string]firstDifference{}
		}
		x.differed[key] = firstDifference{exam.Op, d.Class}
		return false
	}
	return isOtherOp
}

func (x *examination) runAll(ctx context.Context, exams []wire.Workload) error {
	defer x.close(ctx)
	for _, exam := range exams {
		if err := x.runExam(ctx, exam); err != nil {
			return err
		}
	}
	// An operation is supported if one exam of it could be prepared. For example, generated code can
	// encode only the types that it was generated for.
	for _, op := range x.unsupported {
		if !x.supported[op] {
			x.found.Unsupported = append(x.found.Unsupported, op)
		}
	}
	return nil
}

// runExam requests the cases of one exam one by one. If a case ends the process, it starts a new one.
func (x *examination) runExam(ctx context.Context, exam wire.Workload) error {
	exits := 0
	for i := range exam.Bodies {
		isSupported, err := x.openPrepared(ctx, exam)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && i > 0 { // the process ended in the case before, and a new one cannot be prepared
			return nil
		}
		if err != nil || !isSupported {
			x.unsupported = append(x.unsupported, exam.Op)
			x.close(ctx)
			return nil
		}
		x.supported[exam.Op] = true
		answers, err := x.session.Answer(ctx, exam.ID, []int{i})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a := wire.Answer{Case: i}
		var te *tare.TrialError
		switch {
		case err == nil:
			a = answers[0]
		case errors.As(err, &te) && te.Class == tare.ErrContender: // the operation failed, but the process is still alive
			a.Error = oneLine(te.Message)
		default:
			a.Error = "the process ended: " + oneLine(err.Error())
			x.close(ctx)
			exits++
			x.exits++
		}
		x.found.Cases++
		if d, differs := x.kind.Differ(exam, a); differs && !x.wasReported(exam, d) {
			x.found.Differences = append(x.found.Differences, d)
		}
		if exits == maxExamExits {
			return nil
		}
	}
	return nil
}

// openPrepared prepares the exam in the open process, or in a new one. It returns false if the
// contender does not support the operation.
func (x *examination) openPrepared(ctx context.Context, exam wire.Workload) (isSupported bool, err error) {
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

// measureStarts starts some processes of contender id, one after another. It returns the median time
// to the first answer, and the median resident memory before it. Both are 0 if unknown.
func (r *run) measureStarts(ctx context.Context, id string, exams []wire.Workload) (tare.Adoption, error) {
	var seconds []float64
	var memory []int64
	for range startProcesses {
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
	return tare.Adoption{StartSeconds: seconds[startProcesses/2], IdleRSSBytes: memory[startProcesses/2]}, nil
}

// startOnce starts one process of contender id. took is the time to the first answer without the
// time to read resident, the memory in bytes. It returns false if there is no answer.
func (r *run) startOnce(ctx context.Context, id string, exams []wire.Workload) (took time.Duration, resident int64, ok bool) {
	began := r.opts.Now()
	s, err := r.openTrial(ctx, id, "start")
	if err != nil {
		return 0, 0, false
	}
	defer s.Close(context.WithoutCancel(ctx))
	opened := r.opts.Now()
	resident, _ = machine.Resident(s.PID)
	readTime := r.opts.Now().Sub(opened)
	for _, exam := range exams {
		if a, err := s.Prepare(ctx, r.withSet(id, exam)); err != nil {
			return 0, 0, false
		} else if a.Unsupported {
			continue
		}
		_, err := s.Answer(ctx, exam.ID, []int{0})
		return r.opts.Now().Sub(began) - readTime, resident, err == nil
	}
	return 0, 0, false
}
