// The reference for compile time: a service of 40 remote methods, no two with one signature, and a worker that calls
// each.

#include <string>
#include <vector>

#include "lp/program/program.h"

struct Update {
  int step = 0;
  std::vector<float> values{};
};

class Service {
 public:
  int m00(int, int) { return {}; }
  Update m01(int, const std::string&) { return {}; }
  std::vector<int> m02(int, const std::vector<std::string>&) { return {}; }
  std::vector<float> m03(int, float) { return {}; }
  double m04(int, const std::vector<double>&) { return {}; }
  float m05(double, double) { return {}; }
  std::vector<std::string> m06(double, const std::vector<float>&) { return {}; }
  std::string m07(double, const std::vector<int>&) { return {}; }
  int m08(double, const Update&) { return {}; }
  std::vector<int> m09(const std::string&, int) { return {}; }
  std::vector<float> m10(const std::string&, const std::string&) { return {}; }
  double m11(const std::string&, const std::vector<std::string>&) { return {}; }
  std::vector<double> m12(const std::string&, float) { return {}; }
  float m13(const std::string&, const std::vector<double>&) { return {}; }
  std::string m14(const std::vector<float>&, double) { return {}; }
  int m15(const std::vector<float>&, const std::vector<float>&) { return {}; }
  Update m16(const std::vector<float>&, const std::vector<int>&) { return {}; }
  std::vector<int> m17(const std::vector<float>&, const Update&) { return {}; }
  double m18(const std::vector<std::string>&, int) { return {}; }
  std::vector<double> m19(const std::vector<std::string>&, const std::string&) { return {}; }
  float m20(const std::vector<std::string>&, const std::vector<std::string>&) { return {}; }
  std::vector<std::string> m21(const std::vector<std::string>&, float) { return {}; }
  std::string m22(const std::vector<std::string>&, const std::vector<double>&) { return {}; }
  Update m23(const std::vector<int>&, double) { return {}; }
  std::vector<int> m24(const std::vector<int>&, const std::vector<float>&) { return {}; }
  std::vector<float> m25(const std::vector<int>&, const std::vector<int>&) { return {}; }
  double m26(const std::vector<int>&, const Update&) { return {}; }
  float m27(float, int) { return {}; }
  std::vector<std::string> m28(float, const std::string&) { return {}; }
  std::string m29(float, const std::vector<std::string>&) { return {}; }
  int m30(float, float) { return {}; }
  Update m31(float, const std::vector<double>&) { return {}; }
  std::vector<float> m32(const Update&, double) { return {}; }
  double m33(const Update&, const std::vector<float>&) { return {}; }
  std::vector<double> m34(const Update&, const std::vector<int>&) { return {}; }
  float m35(const Update&, const Update&) { return {}; }
  std::string m36(const std::vector<double>&, int) { return {}; }
  int m37(const std::vector<double>&, const std::string&) { return {}; }
  Update m38(const std::vector<double>&, const std::vector<std::string>&) { return {}; }
  std::vector<int> m39(const std::vector<double>&, float) { return {}; }
  using Remote = lp::Methods<&Service::m00, &Service::m01, &Service::m02, &Service::m03, &Service::m04, &Service::m05,
                             &Service::m06, &Service::m07, &Service::m08, &Service::m09, &Service::m10, &Service::m11,
                             &Service::m12, &Service::m13, &Service::m14, &Service::m15, &Service::m16, &Service::m17,
                             &Service::m18, &Service::m19, &Service::m20, &Service::m21, &Service::m22, &Service::m23,
                             &Service::m24, &Service::m25, &Service::m26, &Service::m27, &Service::m28, &Service::m29,
                             &Service::m30, &Service::m31, &Service::m32, &Service::m33, &Service::m34, &Service::m35,
                             &Service::m36, &Service::m37, &Service::m38, &Service::m39>;
};

class Worker {
 public:
  explicit Worker(lp::Client<Service> server) : server_(server) {}
  void run(lp::Context&) {
    server_.call<&Service::m00>(1, 1);
    server_.call<&Service::m01>(1, "text");
    server_.call<&Service::m02>(1, std::vector<std::string>{"a"});
    server_.call<&Service::m03>(1, 0.5F);
    server_.call<&Service::m04>(1, std::vector<double>(8));
    server_.call<&Service::m05>(0.5, 0.5);
    server_.call<&Service::m06>(0.5, std::vector<float>(8));
    server_.call<&Service::m07>(0.5, std::vector<int>(4));
    server_.call<&Service::m08>(0.5, Update{});
    server_.call<&Service::m09>("text", 1);
    server_.call<&Service::m10>("text", "text");
    server_.call<&Service::m11>("text", std::vector<std::string>{"a"});
    server_.call<&Service::m12>("text", 0.5F);
    server_.call<&Service::m13>("text", std::vector<double>(8));
    server_.call<&Service::m14>(std::vector<float>(8), 0.5);
    server_.call<&Service::m15>(std::vector<float>(8), std::vector<float>(8));
    server_.call<&Service::m16>(std::vector<float>(8), std::vector<int>(4));
    server_.call<&Service::m17>(std::vector<float>(8), Update{});
    server_.call<&Service::m18>(std::vector<std::string>{"a"}, 1);
    server_.call<&Service::m19>(std::vector<std::string>{"a"}, "text");
    server_.call<&Service::m20>(std::vector<std::string>{"a"}, std::vector<std::string>{"a"});
    server_.call<&Service::m21>(std::vector<std::string>{"a"}, 0.5F);
    server_.call<&Service::m22>(std::vector<std::string>{"a"}, std::vector<double>(8));
    server_.call<&Service::m23>(std::vector<int>(4), 0.5);
    server_.call<&Service::m24>(std::vector<int>(4), std::vector<float>(8));
    server_.call<&Service::m25>(std::vector<int>(4), std::vector<int>(4));
    server_.call<&Service::m26>(std::vector<int>(4), Update{});
    server_.call<&Service::m27>(0.5F, 1);
    server_.call<&Service::m28>(0.5F, "text");
    server_.call<&Service::m29>(0.5F, std::vector<std::string>{"a"});
    server_.call<&Service::m30>(0.5F, 0.5F);
    server_.call<&Service::m31>(0.5F, std::vector<double>(8));
    server_.call<&Service::m32>(Update{}, 0.5);
    server_.call<&Service::m33>(Update{}, std::vector<float>(8));
    server_.call<&Service::m34>(Update{}, std::vector<int>(4));
    server_.call<&Service::m35>(Update{}, Update{});
    server_.call<&Service::m36>(std::vector<double>(8), 1);
    server_.call<&Service::m37>(std::vector<double>(8), "text");
    server_.call<&Service::m38>(std::vector<double>(8), std::vector<std::string>{"a"});
    server_.call<&Service::m39>(std::vector<double>(8), 0.5F);
  }

 private:
  lp::Client<Service> server_;
};

lp::Program make_program() {
  lp::Program program("forty_methods");
  auto server = program.add<Service>({.name = "server"});
  program.group<Worker>({.name = "worker", .replicas = 2}, server);
  return program;
}
