// Package kafka sends events to a topic of Kafka.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// Header is the record header that identifies an event. Duplicates have the same value.
const Header = "tare-event"

// Kafka is a sink that sends events to a topic.
type Kafka struct {
	target sink.Target
	client *kgo.Client
	oneKey bool // all events have the same key
}

// Kind returns the kind of sink kafka.
func Kind() sink.Kind {
	return sink.Kind{
		Form: "kafka://HOST:PORT/TOPIC", Help: "key=id|one, tls=on, sasl=plain|scram-256|scram-512",
		Options: []string{"timeout", "sasl", "tls=on", "key", "hold=on"},
		Poison:  "rejected by the broker when it is sent alone, as too large or invalid",
		Open:    openTopic,
	}
}

// openTopic opens kafka://HOST:PORT,HOST:PORT/TOPIC. All replicas in sync acknowledge records, and retries are
// idempotent.
func openTopic(t sink.Target, s sink.Settings) (sink.Sink, error) {
	k := &Kafka{target: t}
	topic := strings.Trim(t.URL.Path, "/")
	if topic == "" || strings.Contains(topic, "/") {
		return nil, fmt.Errorf("sink %s: the path %q is no /TOPIC", t.Name(), t.URL.Path)
	}
	switch key := t.Options["key"]; key {
	case "", "id": // the default
	case "one":
		k.oneKey = true
	default:
		return nil, fmt.Errorf("sink %s: key %q is neither id nor one", t.Name(), key)
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(t.URL.Host, ",")...),
		kgo.DefaultProduceTopic(topic),
		kgo.ClientID("tare"),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordDeliveryTimeout(s.Timeout),
		kgo.ManualFlushing(),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.MetadataMinAge(100 * time.Millisecond),
	}
	if t.Options["tls"] == "on" {
		options = append(options, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	mechanism, err := newMechanism(t)
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	k.client, err = kgo.NewClient(options...)
	return k, err
}

// newMechanism returns the SASL mechanism of the URL, or nil.
func newMechanism(t sink.Target) (sasl.Mechanism, error) {
	kind := t.Options["sasl"]
	if kind == "" && t.URL.User == nil {
		return nil, nil
	}
	user := t.URL.User.Username()
	password, _ := t.URL.User.Password()
	switch kind {
	case "", "plain":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "scram-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism(), nil
	case "scram-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("sink %s: sasl %q is not plain, scram-256 or scram-512", t.Name(), kind)
}

// Send produces a batch and waits until all records are acknowledged. The client may retain records after ctx
// ends, if a broker may have them.
func (k *Kafka) Send(ctx context.Context, b sink.Batch) (result sink.Result, err error) {
	records := make([]*kgo.Record, len(b.Events))
	for i, e := range b.Events {
		records[i] = k.newRecord(b.Spool.String(), e)
	}
	failed := map[*kgo.Record]error{}
	if err := k.produceRecords(ctx, records, failed); err != nil {
		return result, err
	}
	var failure error
	for i, r := range records {
		switch err := failed[r]; {
		case err == nil: // sent
		case isRejected(err):
			result.Dead = append(result.Dead, sink.Dead{Index: i, Reason: err.Error()})
		default:
			result.Again = append(result.Again, i)
			failure = err
		}
	}
	if len(result.Again) == len(records) {
		return sink.Result{}, failure
	}
	return result, nil
}

// newRecord returns the record of an event. Its header is the spool and the number of the event, such as
// SPOOL-17. Without an id it has no key, so the client chooses the partition.
func (k *Kafka) newRecord(spool string, e sink.Event) *kgo.Record {
	key := []byte("tare")
	if !k.oneKey {
		key, _ = sink.EventID(e.Line) // nil without an id
	}
	name := strconv.AppendUint([]byte(spool+"-"), e.Number, 10)
	r := &kgo.Record{Key: key, Value: e.Line, Headers: []kgo.RecordHeader{{Key: Header, Value: name}}}
	if trace := sink.Traceparent(e.Line); trace != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: sink.TraceHeader, Value: []byte(trace)})
	}
	return r
}

func isRejected(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.InvalidRecord)
}

// The records of a part form one batch of the client, whose bounds are 1,000,012 bytes and 10,000 records. Of
// several batches, the broker could reject the first and accept the second.
const (
	maxPartBytes   = 900_000
	maxPartRecords = 5_000
)

// partLen returns the number of records to send together, at least one.
func partLen(records []*kgo.Record) int {
	const framing = 64 // more than lengths, offset and time need
	size := 0
	for i, r := range records {
		size += framing + len(r.Key) + len(r.Value)
		for _, h := range r.Headers {
			size += framing + len(h.Key) + len(h.Value)
		}
		if i > 0 && (size > maxPartBytes || i == maxPartRecords) {
			return i
		}
	}
	return len(records)
}

// produceRecords sends records in order, in parts. It adds errors to failed.
//
// A broker rejects all records of a part together, for one record or for their size. So it sends rejected
// records again in halves. Rejecting a single record is final.
func (k *Kafka) produceRecords(ctx context.Context, records []*kgo.Record, failed map[*kgo.Record]error) error {
	if n := partLen(records); n < len(records) {
		return k.produceInOrder(ctx, records[:n], records[n:], failed)
	}
	errs, err := k.flushRecords(ctx, records)
	if err != nil {
		return err
	}
	var rejected []*kgo.Record
	for i, r := range records {
		switch {
		case errs[i] == nil: // sent
		case isRejected(errs[i]) && len(records) > 1:
			rejected = append(rejected, r)
		default:
			failed[r] = errs[i]
		}
	}
	if len(rejected) == 0 {
		return nil
	}
	half := (len(rejected) + 1) / 2
	return k.produceInOrder(ctx, rejected[:half], rejected[half:], failed)
}

// produceInOrder sends first and then rest. If a record of first must be sent again, so must all of rest, to
// keep the order.
func (k *Kafka) produceInOrder(ctx context.Context, first, rest []*kgo.Record, failed map[*kgo.Record]error) error {
	if err := k.produceRecords(ctx, first, failed); err != nil || len(rest) == 0 {
		return err
	}
	for _, r := range first {
		if err := failed[r]; err != nil && !isRejected(err) {
			for _, later := range rest {
				failed[later] = err
			}
			return nil
		}
	}
	return k.produceRecords(ctx, rest, failed)
}

// flushRecords sends records together and returns the error of each. The client gets them before it sends the
// first, so that it does not split them.
func (k *Kafka) flushRecords(ctx context.Context, records []*kgo.Record) ([]error, error) {
	errs := make([]error, len(records))
	for i, r := range records {
		k.client.Produce(ctx, r, func(_ *kgo.Record, err error) { errs[i] = err })
	}
	if err := k.client.Flush(ctx); err != nil {
		return nil, err // some records may not be answered yet, so errs is still written
	}
	return errs, nil
}

// Promise returns the guarantee, which depends on the keys.
func (k *Kafka) Promise() sink.Promise {
	order := "that within a partition; the key is the event's id"
	if k.oneKey {
		order = "that within a partition, which is one, by one key"
	}
	return sink.Promise{To: k.target.String(), Sent: "acknowledged by all replicas in sync; the header " + Header + " is the same in duplicates", Order: order}
}

// Close closes the client.
func (k *Kafka) Close() error {
	k.client.Close()
	return nil
}
