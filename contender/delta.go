package contender

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tarebench/tare/internal/protowire"
)

// A pprof document is a gzipped protocol buffer. The fields that concern the
// difference of two are read here by their numbers in profile.proto; all others
// are passed on as they are. Documents are those that runtime/pprof writes.
const (
	profileSampleType = 1
	profileSample     = 2
	profileLocation   = 4
	profilePeriod     = 12

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	locationID      = 1
	locationAddress = 3

	labelNumber = 3
)

// kept is how many values of a sample are kept: objects and bytes allocated.
// What is still in use at the end says nothing about what work allocates.
const kept = 2

var errDocument = errors.New("not a profile as runtime/pprof writes it")

// beyond is the pprof document of what after has and before has not: both are
// of the same process, and unscaled. every is how many bytes were allocated
// between two samples, in the mean.
func beyond(before, after []byte, every int64) ([]byte, error) {
	earlier, err := unzip(before)
	if err != nil {
		return nil, err
	}
	later, err := unzip(after)
	if err != nil {
		return nil, err
	}
	out, err := difference(earlier, later, every)
	if err != nil {
		return nil, err
	}
	return zip(out)
}

// difference is beyond of documents that are not zipped.
func difference(earlier, later []byte, every int64) ([]byte, error) {
	had := map[string][kept]int64{}
	if err := samples(earlier, func(s sample, stack string) {
		sum := had[stack]
		for i := range sum {
			sum[i] += s.values[i]
		}
		had[stack] = sum
	}); err != nil {
		return nil, err
	}
	var out []byte
	if err := samples(later, func(s sample, stack string) {
		sum := had[stack]
		for i := range sum { // samples with one stack may be several
			known := min(sum[i], s.values[i])
			s.values[i] -= known
			sum[i] -= known
		}
		had[stack] = sum
		if s.values[0] > 0 {
			out = protowire.AppendBytes(out, profileSample, s.scaled(every).encode())
		}
	}); err != nil {
		return nil, err
	}
	types := 0
	err := protowire.Walk(later, func(f protowire.Field) error {
		switch f.Number {
		case profileSample, profilePeriod:
			return nil
		case profileSampleType:
			if types++; types > kept {
				return nil
			}
		}
		out = append(out, f.Raw...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return binary.AppendUvarint(binary.AppendUvarint(out, profilePeriod<<3), uint64(every)), nil
}

// sample is one stack of a document.
type sample struct {
	locations []uint64 // ids in the document
	values    [kept]int64
	labels    []byte // whole fields
}

// scaled estimates what was allocated from what was sampled. A block of so many
// bytes is sampled with probability 1 − exp(−bytes/every).
func (s sample) scaled(every int64) sample {
	block := float64(s.values[1]) / float64(s.values[0])
	scale := 1 / -math.Expm1(-block/float64(every))
	for i, v := range s.values {
		s.values[i] = int64(math.Round(float64(v) * scale))
	}
	return s
}

func (s sample) encode() []byte {
	var ids, values []byte
	for _, id := range s.locations {
		ids = binary.AppendUvarint(ids, id)
	}
	for _, v := range s.values {
		values = binary.AppendUvarint(values, uint64(v))
	}
	return append(protowire.AppendBytes(protowire.AppendBytes(nil, sampleLocation, ids), sampleValue, values), s.labels...)
}

// samples calls visit for each sample of doc. stack is the same for samples of
// one stack and block size in all documents of one process, where ids are not.
func samples(doc []byte, visit func(s sample, stack string)) error {
	address := map[uint64]uint64{}
	err := protowire.Walk(doc, func(f protowire.Field) error {
		if f.Number != profileLocation {
			return nil
		}
		var id, at uint64
		err := protowire.Walk(f.Data, func(f protowire.Field) error {
			switch f.Number {
			case locationID:
				id = f.N
			case locationAddress:
				at = f.N
			}
			return nil
		})
		address[id] = at
		return err
	})
	if err != nil {
		return err
	}
	return protowire.Walk(doc, func(f protowire.Field) error {
		if f.Number != profileSample {
			return nil
		}
		s, block, err := parseSample(f.Data)
		if err != nil {
			return err
		}
		stack := binary.AppendUvarint(nil, block)
		for _, id := range s.locations {
			stack = binary.AppendUvarint(stack, address[id])
		}
		visit(s, string(stack))
		return nil
	})
}

// parseSample reads one sample and the size of its blocks, its only label.
func parseSample(data []byte) (s sample, block uint64, err error) {
	var values []uint64
	err = protowire.Walk(data, func(f protowire.Field) error {
		var err error
		switch f.Number {
		case sampleLocation:
			s.locations, err = f.Numbers(s.locations)
		case sampleValue:
			values, err = f.Numbers(values)
		case sampleLabel:
			s.labels = append(s.labels, f.Raw...)
			err = protowire.Walk(f.Data, func(f protowire.Field) error {
				if f.Number == labelNumber {
					block = f.N
				}
				return nil
			})
		}
		return err
	})
	if err == nil && len(values) < kept {
		err = fmt.Errorf("%w: a sample of %d values", errDocument, len(values))
	}
	for i := range s.values {
		if err == nil {
			s.values[i] = int64(values[i])
		}
	}
	return s, block, err
}

func unzip(doc []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	return io.ReadAll(r)
}

func zip(doc []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(doc); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
