// Command otelcol is an OpenTelemetry collector to compare tare's ingest services
// with. It receives batches of events, JSON arrays of objects, over HTTP, and delivers
// one line of JSON per event, to a file or over HTTP.
//
// The service, the configuration, the HTTP server, the pipeline and the data model
// are those of the collector. The receiver and the exporters are in this package,
// because with those of the collector events could not be counted: the webhook receiver
// makes one log record of a complete body, and the file exporter writes one line per
// request.
package main

import (
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otelcol", Description: "events, one line each", Version: "0.153.0"},
		Factories: newFactories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()}, DefaultScheme: "file",
		}},
	})
	if command.Execute() != nil { // Execute has printed the error
		os.Exit(1)
	}
}

// newFactories returns the components that a configuration can name: the receiver events, and the
// exporters lines and lines_http.
func newFactories() (f otelcol.Factories, err error) {
	f.Telemetry = otelconftelemetry.NewFactory()
	if f.Receivers, err = otelcol.MakeFactoryMap(receiver.NewFactory(component.MustNewType("events"), defaultReceiverConfig, receiver.WithLogs(newReceiver, component.StabilityLevelDevelopment))); err != nil {
		return f, err
	}
	f.Exporters, err = otelcol.MakeFactoryMap(
		exporter.NewFactory(component.MustNewType("lines"), defaultLinesConfig, exporter.WithLogs(newExporter, component.StabilityLevelDevelopment)),
		exporter.NewFactory(component.MustNewType("lines_http"), defaultPostConfig, exporter.WithLogs(newPoster, component.StabilityLevelDevelopment)),
	)
	return f, err
}
