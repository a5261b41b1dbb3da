package lab

import (
	"context"
	"errors"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// checkConformance requests every case, compares the answers with the reference and completes conf.
//
// Answers that were correct before are not requested again: the same program gets the same
// questions. Each round still requests some.
func (r *run) checkConformance(ctx context.Context, s *trial.Session, in wire.Workload, conf tare.Conformance) (tare.Conformance, error) {
	key := r.knownKey(conf.Contender, "conformance", in)
	var known tare.Conformance
	if r.loadKnown(key, &known) && known.Workload == in.ID {
		known.Contender, known.Fresh, known.Probe = conf.Contender, conf.Fresh, conf.Probe
		return known, nil
	}
	conf, err := r.checkAllCases(ctx, s, in, conf)
	if err == nil && conf.Wrong == 0 {
		r.saveKnown(key, conf)
	}
	return conf, err
}

func (r *run) checkAllCases(ctx context.Context, s *trial.Session, in wire.Workload, conf tare.Conformance) (tare.Conformance, error) {
	conf.Workload = in.ID
	batch := 16
	for from := 0; from < in.Bodies; {
		var cases []int
		for i := from; i < min(from+batch, in.Bodies); i++ {
			cases = append(cases, i)
		}
		err := r.checkCases(ctx, s, in, cases, &conf)
		var te *tare.TrialError
		if errors.As(err, &te) && te.Class == tare.ErrContender && len(cases) > 1 {
			batch = len(cases) / 2 // too much for one line, it may be
			continue
		}
		if err != nil {
			return conf, err
		}
		from += len(cases)
	}
	return conf, nil
}

// checkCases requests some cases and adds the results to conf.
func (r *run) checkCases(ctx context.Context, s *trial.Session, in wire.Workload, cases []int, conf *tare.Conformance) error {
	answers, err := s.Answer(ctx, in.ID, cases)
	if err != nil {
		return err
	}
	wrong, err := r.kind.Compare(in, answers)
	if err != nil {
		return &tare.TrialError{Class: tare.ErrProtocol, Message: err.Error()}
	}
	if conf.First == "" && len(wrong) > 0 {
		conf.First = oneLine(wrong[0])
	}
	conf.Wrong += len(wrong)
	for _, line := range wrong {
		if conf.Probe && len(conf.Unrefused) < maxUnrefused {
			conf.Unrefused = append(conf.Unrefused, oneLine(line))
		}
	}
	for _, a := range answers {
		n := int64(len(a.Output))
		if a.Size > 0 {
			n = a.Size
		}
		conf.Bytes += n
		if conf.Cases == 0 || n < conf.MinBytes {
			conf.MinBytes = n
		}
		conf.Cases++
	}
	return nil
}
