package lab

import (
	"context"
	"errors"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// checkConformance requests every case of input, compares the answers with the reference and completes
// conf.
//
// Correct answers of the same program in an earlier run count. Each round still requests a sample of
// the cases.
func (r *run) checkConformance(ctx context.Context, s *trial.Session, input wire.Workload, conf tare.Conformance) (tare.Conformance, error) {
	key := r.knownKey(conf.Contender, "conformance", input)
	var known tare.Conformance
	if r.loadKnown(key, &known) && known.Workload == input.ID {
		known.Contender, known.Fresh, known.Probe = conf.Contender, conf.Fresh, conf.Probe
		return known, nil
	}
	conf, err := r.checkAllCases(ctx, s, input, conf)
	if err == nil && conf.Wrong == 0 {
		r.saveKnown(key, conf)
	}
	return conf, err
}

func (r *run) checkAllCases(ctx context.Context, s *trial.Session, input wire.Workload, conf tare.Conformance) (tare.Conformance, error) {
	conf.Workload = input.ID
	batch := 16
	for first := 0; first < input.Bodies; {
		var cases []int
		for i := first; i < min(first+batch, input.Bodies); i++ {
			cases = append(cases, i)
		}
		err := r.checkCases(ctx, s, input, cases, &conf)
		var te *tare.TrialError
		if errors.As(err, &te) && te.Class == tare.ErrContender && len(cases) > 1 {
			batch = len(cases) / 2 // too long for one reply: retry with fewer
			continue
		}
		if err != nil {
			return conf, err
		}
		first += len(cases)
	}
	return conf, nil
}

func (r *run) checkCases(ctx context.Context, s *trial.Session, input wire.Workload, cases []int, conf *tare.Conformance) error {
	answers, err := s.Answer(ctx, input.ID, cases)
	if err != nil {
		return err
	}
	wrong, err := r.kind.Compare(input, answers)
	if err != nil {
		return &tare.TrialError{Class: tare.ErrProtocol, Message: err.Error()}
	}
	if conf.First == "" && len(wrong) > 0 {
		conf.First = oneLine(wrong[0])
	}
	conf.Wrong += len(wrong)
	for _, line := range wrong { // the probe must be rejected
		if conf.Probe && len(conf.Unrefused) < maxUnrefused {
			conf.Unrefused = append(conf.Unrefused, oneLine(line))
		}
	}
	for _, a := range answers {
		size := int64(len(a.Output))
		if a.Size > 0 { // Output is another text with the same meaning
			size = a.Size
		}
		conf.Bytes += size
		if conf.Cases == 0 || size < conf.MinBytes {
			conf.MinBytes = size
		}
		conf.Cases++
	}
	return nil
}
