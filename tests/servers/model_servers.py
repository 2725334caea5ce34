"""A loopback server with both protocols of a provider: chat and embeddings, OpenAI's and Ollama's."""

from servers import chat_servers, embedding_servers


class Server(chat_servers.Server):
    """Serves chat models and embedders on one free port."""

    def __init__(self, reply=("Run the rotation job [1].",)):
        super().__init__(reply)
        self.RequestHandlerClass = Handler
        self.has_embed, self.shuffled, self.ignores_base64 = True, False, False


class Handler(chat_servers.Handler):
    """Becomes the handler of the protocol that a connection's first request uses."""

    def do_POST(self):
        servers = embedding_servers if "embed" in self.path else chat_servers
        self.__class__ = servers.Handler
        self.do_POST()
