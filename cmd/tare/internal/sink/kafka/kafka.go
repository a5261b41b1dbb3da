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

// Header is the name of a record header that identifies the event: duplicates have the same value.
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

// openTopic opens the topic of kafka://HOST:PORT,HOST:PORT/TOPIC. Producing is idempotent, and
// acknowledged by all replicas that are in sync.
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

// newMechanism returns the SASL mechanism with the user and the password of the URL, or nil if the URL
// has neither these nor option sasl.
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

// Send produces a batch, and waits until all records are acknowledged. If ctx ends before that, the
// client may retain the records until it is closed, because it does not fail records that a broker may
// have.
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

// newRecord returns the record of an event. Its header is the name of the spool and the event's number in it, such
// as SPOOL-17. An event without an id gets no key, so that the client may choose any partition.
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

// isRejected reports whether the broker rejects the content of a record permanently.
func isRejected(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.InvalidRecord)
}

// maxPartBytes and maxPartRecords bound the records that are sent together, so that the client sends
// the records of a partition as one batch: if there were several, the broker could accept a later batch
// after it rejected the first. The client's own bounds are 1,000,012 bytes and 10,000 records.
const (
	maxPartBytes   = 900_000
	maxPartRecords = 5_000
)

// partLen returns the number of records to send together, at least one.
func partLen(records []*kgo.Record) int {
	const framing = 64 // more than lengths, offset and time of a record take
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

// produceRecords sends records in order, in parts, and adds the error of each record that fails to
// failed. A broker rejects all records of a part together, even if one of them is the cause, or if only
// the part is too large. produceRecords sends rejected records again in halves, in order, down to single
// records. A rejection of a single record is final.
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

// produceInOrder sends first and then rest. It does not send rest if a record of first failed with an
// error after which it must be sent again: that would change the order. It then adds the error to failed
// for each record of rest, which must be sent again, too.
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

// flushRecords sends records together, waits until the broker has answered all of them, and returns the
// error of each. The client gets all records before it sends the first, so that it does not split them.
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
