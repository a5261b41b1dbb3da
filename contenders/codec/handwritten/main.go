// Command handwritten encodes devices with nothing but appends: what a lean
// encoder can reach when it knows the type.
package main

import (
	"strconv"
	"time"

	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
)

func main() { codec.Main(codec.Impl{Load: load, Marshal: marshal}) }

func marshal(v any) ([]byte, error) {
	devices := v.([]fixture.Device)
	b := append(make([]byte, 0, 256*len(devices)+2), '[')
	for _, d := range devices {
		b = strconv.AppendQuote(append(b, `{"id":`...), d.ID)
		b = strconv.AppendQuote(append(b, `,"name":`...), d.Name)
		b = strconv.AppendQuote(append(b, `,"type":`...), d.Type)
		b = strconv.AppendQuote(append(b, `,"state":`...), d.State)
		sep := `,"attributes":{`
		for key, value := range d.Attributes {
			b = append(strconv.AppendQuote(append(b, sep...), key), ':')
			switch x := value.(type) {
			case string:
				b = strconv.AppendQuote(b, x)
			case int:
				b = strconv.AppendInt(b, int64(x), 10)
			case float64:
				b = strconv.AppendFloat(b, x, 'g', -1, 64)
			}
			sep = ","
		}
		b = d.LastUpdated.AppendFormat(append(b, `},"last_updated":"`...), time.RFC3339Nano)
		b = append(b, `"},`...)
	}
	return append(b[:max(1, len(b)-1)], ']'), nil
}
