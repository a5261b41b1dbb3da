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

// Header names an event for readers of the topic: duplicates have the same value.
const Header = "tare-event"

// Kafka is a topic.
type Kafka struct {
	target sink.Target
	client *kgo.Client
	one    bool // all events have one key
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
	case "", "id":
	case "one":
		k.one = true
	default:
		return nil, fmt.Errorf("sink %s: key %q is neither id nor one", t.Name(), key)
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(t.URL.Host, ",")...),
		kgo.DefaultProduceTopic(topic),
		kgo.ClientID("tare"),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordDeliveryTimeout(s.Timeout),
		kgo.ProducerLinger(0),
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

// newMechanism returns the authentication with the URL's user and password; nil without them.
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

// Send produces a batch, and waits until all of it is acknowledged. If ctx ends before that, the
// client may retain the batch until it is closed: it does not fail records that a broker may have.
func (k *Kafka) Send(ctx context.Context, b sink.Batch) (result sink.Result, err error) {
	records := make([]*kgo.Record, len(b.Events))
	for i, e := range b.Events {
		key := []byte("tare")
		if !k.one {
			if key, err = sink.EventID(e.Line); err != nil {
				key = nil // any partition
			}
		}
		name := strconv.AppendUint([]byte(b.Spool.String()+"-"), e.Number, 10)
		records[i] = &kgo.Record{Key: key, Value: e.Line, Headers: []kgo.RecordHeader{{Key: Header, Value: name}}}
		if trace := sink.Traceparent(e.Line); trace != "" {
			records[i].Headers = append(records[i].Headers, kgo.RecordHeader{Key: sink.TraceHeader, Value: []byte(trace)})
		}
	}
	failed := map[*kgo.Record]error{}
	if err := k.produceRecords(ctx, records, failed); err != nil {
		return result, err
	}
	var failure error
	for i, r := range records {
		switch err := failed[r]; {
		case err == nil:
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

// isRejected reports whether an error is about the content, and permanent.
func isRejected(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.InvalidRecord)
}

// produceRecords sends records, and collects those that failed. A broker rejects many records
// together, although one of them is the cause, or none that is sent by itself. These are sent again
// in halves, in order, down to single records that are rejected.
func (k *Kafka) produceRecords(ctx context.Context, records []*kgo.Record, failed map[*kgo.Record]error) error {
	produced := make(chan kgo.ProduceResults, 1)
	go func() { produced <- k.client.ProduceSync(ctx, records...) }()
	select {
	case list := <-produced:
		for _, one := range list {
			if one.Err != nil {
				failed[one.Record] = one.Err
			}
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	var again []*kgo.Record
	for _, r := range records {
		if isRejected(failed[r]) {
			again = append(again, r)
		}
	}
	if len(records) == 1 || len(again) == 0 {
		return nil
	}
	for _, r := range again {
		delete(failed, r)
	}
	half := (len(again) + 1) / 2
	if err := k.produceRecords(ctx, again[:half], failed); err != nil || half == len(again) {
		return err
	}
	for _, r := range again[:half] {
		if err := failed[r]; err != nil && !isRejected(err) { // it is to be sent later: nothing goes before it
			for _, r := range again[half:] {
				failed[r] = err
			}
			return nil
		}
	}
	return k.produceRecords(ctx, again[half:], failed)
}

// Promise describes replicas and partitions.
func (k *Kafka) Promise() sink.Promise {
	order := "that within a partition; the key is the event's id"
	if k.one {
		order = "that within a partition, which is one, by one key"
	}
	return sink.Promise{
		To:    k.target.String(),
		Sent:  "acknowledged by all replicas in sync; the header " + Header + " is the same in duplicates",
		Order: order,
	}
}

// Close closes the client.
func (k *Kafka) Close() error {
	k.client.Close()
	return nil
}
