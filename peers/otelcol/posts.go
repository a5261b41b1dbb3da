package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/pdata/plog"
)

// postConfig is the configuration of the exporter lines_http.
type postConfig struct {
	confighttp.ClientConfig `mapstructure:",squash"`
	Queue                   configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	Retry                   configretry.BackOffConfig                                `mapstructure:"retry_on_failure"`
}

func defaultPostConfig() component.Config {
	return &postConfig{
		ClientConfig: confighttp.NewDefaultClientConfig(),
		Queue:        configoptional.Some(exporterhelper.NewDefaultQueueConfig()),
		Retry:        configretry.NewDefaultBackOffConfig(),
	}
}

// Validate rejects an incomplete configuration.
func (p *postConfig) Validate() error {
	if p.Endpoint == "" {
		return errors.New("endpoint must be given")
	}
	return nil
}

// poster is the exporter lines_http: it sends the body of each log record as a line to a URL. The collector
// provides the queue, the batches and the retries.
type poster struct {
	config    *postConfig
	telemetry component.TelemetrySettings
	client    *http.Client
}

func newPoster(ctx context.Context, s exporter.Settings, c component.Config) (exporter.Logs, error) {
	p := &poster{config: c.(*postConfig), telemetry: s.TelemetrySettings}
	return exporterhelper.NewLogs(ctx, s, c, p.sendLogs, exporterhelper.WithStart(p.start),
		exporterhelper.WithQueue(p.config.Queue), exporterhelper.WithRetry(p.config.Retry))
}

func (p *poster) start(ctx context.Context, host component.Host) (err error) {
	p.client, err = p.config.ToClient(ctx, host.GetExtensions(), p.telemetry)
	return err
}

// sendLogs sends log records in one request. It returns an error if the status of the response is not 2xx.
func (p *poster) sendLogs(ctx context.Context, logs plog.Logs) error {
	var body bytes.Buffer
	if err := writeLines(&body, logs); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.config.Endpoint, &body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body) // so that the connection can be reused
	if err = errors.Join(err, response.Body.Close()); err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s answers %s", p.config.Endpoint, response.Status)
	}
	return err
}
