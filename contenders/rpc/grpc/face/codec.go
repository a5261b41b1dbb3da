package face

import (
	"google.golang.org/grpc/encoding"
	encoded "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/tarebench/tare/contender/server"
)

// codec is grpc-go's own for protocol buffers, which counts what it decodes: how
// long a message is it is told, and working that out again would cost as much as a
// part of decoding it.
type codec struct {
	encoding.CodecV2
	receipts *server.Receipts
}

func newCodec(receipts *server.Receipts) codec {
	return codec{encoding.GetCodecV2(encoded.Name), receipts}
}

func (c codec) Unmarshal(data mem.BufferSlice, m any) error {
	c.receipts.Body(int64(data.Len()))
	return c.CodecV2.Unmarshal(data, m)
}
