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

// A difference of two allocation profiles is what a process allocated between them. A pprof document is a
// gzipped protocol buffer. Unknown fields are copied.

// Field numbers in profile.proto.
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

// keptValues is the number of values that a sample keeps: allocated objects and bytes. Values in use do not
// describe the work.
const keptValues = 2

var errDocument = errors.New("not a profile as runtime/pprof writes it")

// diffProfiles returns a pprof profile of the allocations in after but not in before. Both are unscaled and of
// one process. rate is the mean number of bytes between samples.
func diffProfiles(before, after []byte, rate int64) ([]byte, error) {
	earlier, err := gunzipDoc(before)
	if err != nil {
		return nil, err
	}
	later, err := gunzipDoc(after)
	if err != nil {
		return nil, err
	}
	out, err := diffUnzipped(earlier, later, rate)
	if err != nil {
		return nil, err
	}
	return gzipDoc(out)
}

// diffUnzipped subtracts earlier from later, stack by stack. It scales the rest, and sets the profile's period
// to rate.
func diffUnzipped(earlier, later []byte, rate int64) ([]byte, error) {
	earlierValues := map[string][keptValues]int64{} // values to subtract, by stack
	if err := visitSamples(earlier, func(s sample, stack string) {
		sum := earlierValues[stack]
		for i := range sum {
			sum[i] += s.values[i]
		}
		earlierValues[stack] = sum
	}); err != nil {
		return nil, err
	}
	var out []byte
	if err := visitSamples(later, func(s sample, stack string) {
		remaining := earlierValues[stack]
		for i := range remaining { // later may have more samples of the stack: subtract once
			subtracted := min(remaining[i], s.values[i])
			s.values[i] -= subtracted
			remaining[i] -= subtracted
		}
		earlierValues[stack] = remaining
		if s.values[0] > 0 {
			out = protowire.AppendBytes(out, profileSample, s.scaleUp(rate).encodeSample())
		}
	}); err != nil {
		return nil, err
	}
	types := 0
	err := protowire.Walk(later, func(f protowire.Field) error {
		switch f.Number {
		case profileSample, profilePeriod: // replaced
			return nil
		case profileSampleType:
			if types++; types > keptValues {
				return nil
			}
		}
		out = append(out, f.Raw...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	const varint = 0 // wire type of the period
	return binary.AppendUvarint(binary.AppendUvarint(out, profilePeriod<<3|varint), uint64(rate)), nil
}

type sample struct {
	locations []uint64          // ids in the document, one per frame
	values    [keptValues]int64 // objects and bytes
	labels    []byte            // encoded label fields
}

// scaleUp estimates allocations from samples, as runtime/pprof does. A block of n bytes is sampled with
// probability 1 − exp(−n/rate).
func (s sample) scaleUp(rate int64) sample {
	block := float64(s.values[1]) / float64(s.values[0]) // bytes
	scale := 1 / -math.Expm1(-block/float64(rate))
	for i, v := range s.values {
		s.values[i] = int64(math.Round(float64(v) * scale))
	}
	return s
}

func (s sample) encodeSample() []byte {
	var ids, values []byte
	for _, id := range s.locations {
		ids = binary.AppendUvarint(ids, id)
	}
	for _, v := range s.values {
		values = binary.AppendUvarint(values, uint64(v))
	}
	return append(protowire.AppendBytes(protowire.AppendBytes(nil, sampleLocation, ids), sampleValue, values), s.labels...)
}

// visitSamples calls visit for each sample. stack encodes block size and addresses, which are the same in all
// documents of a process.
func visitSamples(doc []byte, visit func(s sample, stack string)) error {
	addresses := map[uint64]uint64{} // by id of the location
	err := protowire.Walk(doc, func(f protowire.Field) error {
		if f.Number != profileLocation {
			return nil
		}
		var id, address uint64
		err := protowire.Walk(f.Data, func(f protowire.Field) error {
			switch f.Number {
			case locationID:
				id = f.N
			case locationAddress:
				address = f.N
			}
			return nil
		})
		addresses[id] = address
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
			stack = binary.AppendUvarint(stack, addresses[id])
		}
		visit(s, string(stack))
		return nil
	})
}

// parseSample parses a sample. block is the size of its blocks in bytes, the only label.
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
	if err == nil && len(values) < keptValues {
		err = fmt.Errorf("%w: a sample of %d values", errDocument, len(values))
	}
	for i := range s.values {
		if err == nil {
			s.values[i] = int64(values[i])
		}
	}
	return s, block, err
}

func gunzipDoc(doc []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	return io.ReadAll(r)
}

func gzipDoc(doc []byte) ([]byte, error) {
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
