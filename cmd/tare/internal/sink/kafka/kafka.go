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

// Header names an event for those who read the topic: its value is the same when
// it is there twice.
const Header = "tare-event"

// Kafka is a topic.
type Kafka struct {
	target sink.Target
	client *kgo.Client
	one    bool // all events have one key
}

var _ sink.Sink = (*Kafka)(nil)

// New is the topic that kafka://HOST:PORT,HOST:PORT/TOPIC names. Producing is
// idempotent, and acknowledged by all replicas that are in sync.
func New(t sink.Target) (*Kafka, error) {
	k := &Kafka{target: t}
	topic := strings.Trim(t.URL.Path, "/")
	if topic == "" || strings.Contains(topic, "/") {
		return nil, fmt.Errorf("sink %s: the path %q is no /TOPIC", t.Name(), t.URL.Path)
	}
	timeout, err := t.Timeout()
	if err != nil {
		return nil, err
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
		kgo.RecordDeliveryTimeout(timeout),
		kgo.ProducerLinger(0),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.MetadataMinAge(100 * time.Millisecond),
	}
	secure, err := t.On("tls", false)
	if err != nil {
		return nil, err
	}
	if secure {
		options = append(options, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	mechanism, err := authentication(t)
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		options = append(options, kgo.SASL(mechanism))
	}
	k.client, err = kgo.NewClient(options...)
	return k, err
}

// authentication is by the URL's user and password; nil: there is none.
func authentication(t sink.Target) (sasl.Mechanism, error) {
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

// Send produces a batch, and waits until all of it is acknowledged. If ctx ends before
// that, the client may hold the batch until it is closed: it does not fail what a broker
// may have.
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
	index := make(map[*kgo.Record]int, len(records))
	for i, r := range records {
		index[r] = i
	}
	produced := make(chan kgo.ProduceResults, 1)
	go func() { produced <- k.client.ProduceSync(ctx, records...) }()
	var list kgo.ProduceResults
	select {
	case list = <-produced:
	case <-ctx.Done():
		return result, ctx.Err()
	}
	var failure error
	for _, one := range list {
		switch {
		case one.Err == nil:
		case errors.Is(one.Err, kerr.MessageTooLarge), errors.Is(one.Err, kerr.InvalidRecord):
			result.Dead = append(result.Dead, sink.Dead{Index: index[one.Record], Reason: one.Err.Error()})
		default:
			result.Again = append(result.Again, index[one.Record])
			failure = one.Err
		}
	}
	if len(result.Again) == len(records) {
		return sink.Result{}, failure
	}
	return result, nil
}

// Promise is about replicas and partitions.
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
