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
// difference of two are parsed by their numbers in profile.proto; all others
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

// keptValues is the number of values of a sample that are used: objects and bytes allocated. The values in use
// at the end do not describe allocation.
const keptValues = 2

var errDocument = errors.New("not a profile as runtime/pprof writes it")

// diffProfiles returns a pprof profile of the allocations in after that are not in before. Both are of one
// process, and unscaled. every is the mean number of bytes between samples.
func diffProfiles(before, after []byte, every int64) ([]byte, error) {
	earlier, err := gunzipDoc(before)
	if err != nil {
		return nil, err
	}
	later, err := gunzipDoc(after)
	if err != nil {
		return nil, err
	}
	out, err := diffUnzipped(earlier, later, every)
	if err != nil {
		return nil, err
	}
	return gzipDoc(out)
}

// diffUnzipped is diffProfiles for documents that are not gzipped.
func diffUnzipped(earlier, later []byte, every int64) ([]byte, error) {
	had := map[string][keptValues]int64{}
	if err := visitSamples(earlier, func(s sample, stack string) {
		sum := had[stack]
		for i := range sum {
			sum[i] += s.values[i]
		}
		had[stack] = sum
	}); err != nil {
		return nil, err
	}
	var out []byte
	if err := visitSamples(later, func(s sample, stack string) {
		sum := had[stack]
		for i := range sum { // several samples may have one stack
			known := min(sum[i], s.values[i])
			s.values[i] -= known
			sum[i] -= known
		}
		had[stack] = sum
		if s.values[0] > 0 {
			out = protowire.AppendBytes(out, profileSample, s.scaleUp(every).encodeSample())
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
	return binary.AppendUvarint(binary.AppendUvarint(out, profilePeriod<<3), uint64(every)), nil
}

// sample is one stack of a document.
type sample struct {
	locations []uint64 // ids in the document
	values    [keptValues]int64
	labels    []byte // encoded fields
}

// scaleUp estimates the allocations from the sampled ones. A block of n bytes is sampled with probability 1 −
// exp(−n/every).
func (s sample) scaleUp(every int64) sample {
	block := float64(s.values[1]) / float64(s.values[0])
	scale := 1 / -math.Expm1(-block/float64(every))
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

// visitSamples calls visit for each sample of doc. stack is equal for samples of one stack and block size in
// all documents of one process, unlike ids.
func visitSamples(doc []byte, visit func(s sample, stack string)) error {
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

// parseSample parses one sample and the size of its blocks, its only label.
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
