#include "exporters/web/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <cstring>
#include <list>
#include <tuple>
#include <utility>

#include "exporters/web/gate.h"

namespace tallyfs::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

using Protocol = asio::generic::stream_protocol;
using Socket = asio::basic_stream_socket<Protocol>;
using Code = boost::system::error_code;

std::string text_of(const http::request<http::string_body>& request, http::field field) {
  return std::string(request[field]);
}

Request to_request(http::request<http::string_body>&& request, const std::string& peer) {
  Request made{.method = std::string(request.method_string()),
               .target = std::string(request.target())};
  made.host = text_of(request, http::field::host);
  made.origin = text_of(request, http::field::origin);
  made.fetch_site = std::string(request["Sec-Fetch-Site"]);
  made.authorization = text_of(request, http::field::authorization);
  made.accept = text_of(request, http::field::accept);
  made.accept_encoding = text_of(request, http::field::accept_encoding);
  made.if_none_match = text_of(request, http::field::if_none_match);
  made.content_type = text_of(request, http::field::content_type);
  made.scrape_timeout = std::string(request["X-Prometheus-Scrape-Timeout-Seconds"]);
  made.body = std::move(request.body());
  made.peer = peer;
  return made;
}

template <typename Body>
void set_header(http::response<Body>& made, const Response& response) {
  made.version(11);
  made.result(static_cast<unsigned>(response.status));
  made.set(http::field::server, "tally-web");
  if (!response.content_type.empty()) made.set(http::field::content_type, response.content_type);
  for (const Header& header : response.headers) made.set(header.name, header.value);
  for (const Header& header : security_headers()) made.set(header.name, header.value);
}

enum class Shown { kAll, kHeader };
enum class After { kKeep, kClose };

http::message_generator to_message(Response response, Shown shown, After after) {
  const bool has_body = response.status != 304 && response.status != 204;
  if (shown == Shown::kHeader || !has_body) {
    http::response<http::empty_body> made;
    set_header(made, response);
    if (has_body) made.content_length(response.body.size());
    made.keep_alive(after == After::kKeep);
    return made;
  }
  http::response<http::string_body> made;
  set_header(made, response);
  made.body() = std::move(response.body);
  made.prepare_payload();
  made.keep_alive(after == After::kKeep);
  return made;
}

std::string peer_of(const Socket& socket) {
  Code code;
  const auto endpoint = socket.remote_endpoint(code);
  const int family = endpoint.protocol().family();
  if (code || (family != AF_INET && family != AF_INET6)) return "unix";
  asio::ip::tcp::endpoint ip;
  ip.resize(endpoint.size());
  std::memcpy(ip.data(), endpoint.data(), endpoint.size());
  std::string text = ip.address().to_string();
  return text.append(":").append(std::to_string(ip.port()));
}

}  // namespace

// The state that sessions share. It outlives all of them, and is confined to the thread that speaks
// with clients, except `files`.
class Server::Core {
 public:
  Core(Listening listening, Site& site, const ClientTimes& times);
  ~Core();
  void run();

 private:
  class Session;

  void accept();
  void make_room();
  void wait_for_tick();

  const std::string unix_path_;
  Site& site_;
  const ClientTimes times_;
  std::list<Session*> sessions_;  // those that are not closed
  std::size_t waiting_ = 0;       // requests for files that have no answer yet
  std::size_t sending_bytes_ = 0;
  bool is_ticking_ = false;
  asio::io_context context_{1};
  asio::thread_pool files_{kFileThreads};
  asio::basic_socket_acceptor<Protocol> acceptor_{context_};
  asio::steady_timer pause_{context_};  // before the next attempt to accept
  asio::steady_timer tick_{context_};
  asio::signal_set signals_{context_, SIGTERM, SIGINT};
};

// A connection. The operation that is under way owns it, be it of the socket or of a thread for
// files; the last one that ends frees it.
class Server::Core::Session : public std::enable_shared_from_this<Session> {
 public:
  // The event that a connection waits for. At the bound of connections the first kinds are closed
  // for new ones first, and the last kind never; connections of holders of the token are closed
  // after all others.
  enum class Waits : std::uint8_t { kForEnd, kForRequest, kForRest, kForTaking, kForFiles };

  Session(Core& core, Socket socket)
      : core_(core),
        peer_(peer_of(socket)),
        stream_(std::move(socket)),
        place_(core.sessions_.insert(core.sessions_.end(), this)) {}
  ~Session() { close(); }

  // A request that has begun has less time than the silence before it.
  void wait_for_request() {
    if (buffer_.size() > 0) return read_request();
    wait(Waits::kForRequest);
    stream_.expires_after(core_.times_.idle);
    stream_.async_read_some(buffer_.prepare(kHeaderBytesMax),
                            [self = shared_from_this()](Code code, std::size_t size) {
                              if (code) return self->close();
                              self->buffer_.commit(size);
                              self->read_request();
                            });
  }

  auto close_order() const {
    const bool is_kept = waits_ == Waits::kForFiles;
    const bool is_of_holder = is_of_holder_ && waits_ != Waits::kForEnd;
    return std::tuple(is_kept, is_of_holder, waits_, since_);
  }
  Waits waits() const { return waits_; }

  // Pending operations end with an error.
  void close() {
    if (!is_open_) return;
    is_open_ = false;
    core_.sessions_.erase(place_);
    Code ignored;
    stream_.socket().shutdown(Socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  void wait(Waits waits) {
    waits_ = waits;
    since_ = std::chrono::steady_clock::now();
  }

  void read_request() {
    wait(Waits::kForRest);
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(kBodyBytesMax);
    stream_.expires_after(core_.times_.request);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Code code, std::size_t) {
                       code ? self->refuse(code) : self->take();
                     });
  }

  void refuse(Code code) {
    shown_ = Shown::kAll;
    if (code == http::error::header_limit || code == http::error::buffer_overflow)
      return send(text_response(431, "headers of more than 8 KiB"), After::kClose);
    if (code == http::error::body_limit)
      return send(text_response(413, "a body of more than 64 KiB"), After::kClose);
    const bool is_http = code.category() == make_error_code(http::error::bad_method).category();
    if (!is_http || code == http::error::end_of_stream || code == http::error::partial_message) {
      return close();
    }
    send(text_response(400, "no HTTP request: " + code.message()), After::kClose);
  }

  void take() {
    const After after = parser_->get().keep_alive() ? After::kKeep : After::kClose;
    const Request request = to_request(parser_->release(), peer_);
    shown_ = request.method == "HEAD" ? Shown::kHeader : Shown::kAll;
    is_of_holder_ = core_.site_.is_of_holder(request);
    if (auto response = core_.site_.answer_at_once(request)) {
      return send(*std::move(response), after);
    }
    if (core_.waiting_ >= kWaitingMax + kFileThreads) {
      core_.site_.count_limit(Limit::kReads);
      return send(unavailable("too many requests wait for files of the mount"), after);
    }
    wait(Waits::kForFiles);
    ++core_.waiting_;
    asio::post(core_.files_, [self = shared_from_this(), request, after]() mutable {
      Response response = self->core_.site_.answer(request);
      Core& core = self->core_;
      asio::post(core.context_,
                 [self = std::move(self), response = std::move(response), after]() mutable {
                   --self->core_.waiting_;
                   self->send(std::move(response), after);
                 });
    });
  }

  static Response unavailable(std::string reason) {
    return text_response(503, std::move(reason), {{"Retry-After", "1"}});
  }

  void send(Response response, After after) {
    if (response.body.size() > kSmallBytesMax &&
        core_.sending_bytes_ + response.body.size() > kSendingBytesMax) {
      core_.site_.count_limit(Limit::kBytes);
      response = unavailable("too many bytes are being sent to others");
    }
    const std::size_t size = response.body.size();
    core_.sending_bytes_ += size;
    auto message = to_message(std::move(response), shown_, after);
    wait(Waits::kForTaking);
    stream_.expires_after(core_.times_.idle);
    beast::async_write(stream_, std::move(message),
                       [self = shared_from_this(), after, size](Code code, std::size_t) {
                         self->core_.sending_bytes_ -= size;
                         if (code) return self->close();
                         after == After::kKeep ? self->wait_for_request() : self->end();
                       });
  }

  // Reads and drops the rest of the client's bytes. A socket that is closed before would answer
  // them with a reset, and the client's kernel would drop a response that was not read yet.
  void end() {
    wait(Waits::kForEnd);
    Code ignored;
    stream_.socket().shutdown(Socket::shutdown_send, ignored);
    stream_.expires_after(core_.times_.drain);
    drain();
  }

  void drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kBodyBytesMax),
                            [self = shared_from_this()](Code code, std::size_t) {
                              code ? self->close() : self->drain();
                            });
  }

  Core& core_;
  const std::string peer_;
  beast::basic_stream<Protocol> stream_;
  const std::list<Session*>::iterator place_;
  bool is_open_ = true;
  bool is_of_holder_ = false;  // as its last request
  Waits waits_ = Waits::kForRequest;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  beast::flat_buffer buffer_{kHeaderBytesMax + kBodyBytesMax};
  std::optional<http::request_parser<http::string_body>> parser_;
  Shown shown_ = Shown::kAll;
};

Server::Core::Core(Listening listening, Site& site, const ClientTimes& times)
    : unix_path_(std::move(listening.unix_path)), site_(site), times_(times) {
  const int family = unix_path_.empty() ? AF_INET : AF_UNIX;
  acceptor_.assign(Protocol(family, 0), listening.fd.release());
  signals_.async_wait([this](Code code, int) {
    if (!code) context_.stop();
  });
}

Server::Core::~Core() {
  if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
}

void Server::Core::accept() {
  acceptor_.async_accept([this](Code code, Socket socket) {
    if (code == asio::error::operation_aborted) return;
    if (!code) {
      make_room();
      std::make_shared<Session>(*this, std::move(socket))->wait_for_request();
      return accept();
    }
    // Without a free descriptor each further attempt would fail at once.
    pause_.expires_after(kTick);
    pause_.async_wait([this](Code stopped) {
      if (!stopped) accept();
    });
  });
}

void Server::Core::make_room() {
  if (sessions_.size() < kConnectionsMax) return;
  Session* const first = *std::ranges::min_element(sessions_, {}, &Session::close_order);
  if (first->waits() != Session::Waits::kForEnd) site_.count_limit(Limit::kConnections);
  first->close();
}

void Server::Core::wait_for_tick() {
  tick_.expires_after(kTick);
  tick_.async_wait([this](Code code) {
    if (code) return;
    if (!is_ticking_) {
      is_ticking_ = true;
      asio::post(files_, [this] {
        site_.tick();
        asio::post(context_, [this] { is_ticking_ = false; });
      });
    }
    wait_for_tick();
  });
}

void Server::Core::run() {
  accept();
  wait_for_tick();
  context_.run();
  files_.join();
}

Server::Server(Listening listening, Site& site, const ClientTimes& times)
    : core_(std::make_unique<Core>(std::move(listening), site, times)) {}
Server::~Server() = default;

void Server::run() { core_->run(); }

}  // namespace tallyfs::web
