package api

import (
	"google.golang.org/grpc/encoding"
	protoencoding "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/tarebench/tare/contender/server"
)

// codec is grpc-go's codec for protocol buffers. It also counts the decoded bytes. An interceptor would
// have to compute the length of a message again, at a considerable cost.
type codec struct {
	encoding.CodecV2
	receipts *server.Receipts
}

func newCodec(receipts *server.Receipts) codec {
	return codec{CodecV2: encoding.GetCodecV2(protoencoding.Name), receipts: receipts}
}

// Unmarshal decodes a message and counts its bytes.
func (c codec) Unmarshal(data mem.BufferSlice, m any) error {
	c.receipts.Body(int64(data.Len()))
	return c.CodecV2.Unmarshal(data, m)
}
