import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.net.InetSocketAddress;

/** A gRPC server with the health service and server reflection, on a port of 127.0.0.1. */
public class Server {
  public static void main(String[] args) throws Exception {
    NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])))
        .addService(new HealthStatusManager().getHealthService())
        .addService(ProtoReflectionServiceV1.newInstance())
        .build()
        .start()
        .awaitTermination();
  }
}
