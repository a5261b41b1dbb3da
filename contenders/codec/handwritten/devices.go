package main

import (
	"strconv"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

func loadDevices(name string, canonical []byte) (any, error) {
	if name != "devices" {
		return nil, contender.ErrUnsupported
	}
	return fixture.Decode(name, canonical)
}

const deviceSize = 256 // estimated bytes of a device

// marshal encodes devices. The binary must contain its symbol: see contender.json.
func marshal(v any) ([]byte, error) {
	devices := v.([]fixture.Device)
	b := append(make([]byte, 0, deviceSize*len(devices)+2), '[')
	for _, d := range devices {
		b = strconv.AppendQuote(append(b, `{"id":`...), d.ID)
		b = strconv.AppendQuote(append(b, `,"name":`...), d.Name)
		b = strconv.AppendQuote(append(b, `,"type":`...), d.Type)
		b = strconv.AppendQuote(append(b, `,"state":`...), d.State)
		separator := `,"attributes":{` // every device has attributes
		for key, value := range d.Attributes {
			b = append(strconv.AppendQuote(append(b, separator...), key), ':')
			switch x := value.(type) { // the fixture has no other types
			case string:
				b = strconv.AppendQuote(b, x)
			case int:
				b = strconv.AppendInt(b, int64(x), 10)
			case float64:
				b = strconv.AppendFloat(b, x, 'g', -1, 64)
			}
			separator = ","
		}
		b = d.LastUpdated.AppendFormat(append(b, `},"last_updated":"`...), time.RFC3339Nano)
		b = append(b, `"},`...)
	}
	withoutComma := b[:max(1, len(b)-1)] // the opening bracket remains without devices
	return append(withoutComma, ']'), nil
}
