// PageRank (Brin and Page, 1998): rank = 0.15 + 0.85 * sum of rank / links of the pages that link to a page. A line has
// the numbers of two pages, of which the first links to the second.
//
//   build/examples/pagerank --pipeline.input=links.txt --pipeline.into=ranks --rounds=10 --launch=processes
//
// Each round is a stage; a page keeps its replica from round to round. The votes for a page are added in the order of
// their pages, so that the ranks have the same bits for any number of replicas.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/pipeline/pipeline_flags.h"

struct Config {
  lp::PipelineFlags pipeline{};
  std::uint32_t rounds = 10;
  static constexpr auto fields = lp::fields(lp::field("rounds", "how often the ranks are computed", lp::range(1, 100)));
};

struct Link {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool out = true;  // a link; else only a sign that the page `from` is there
};
struct Page {
  std::uint64_t number = 0;
  double rank = 1;
  std::vector<std::uint64_t> links{};
};
struct Vote {
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  double share = 0;
};

void links_of(std::string_view line, lp::dataflow::Collector<Link>& out) {
  Link link;
  const char* const end = line.data() + line.size();
  const auto from = std::from_chars(line.data(), end, link.from);
  const auto to = std::from_chars(std::min(from.ptr + 1, end), end, link.to);
  if (from.ec != std::errc() || to.ec != std::errc()) return;  // a comment
  out(link);
  out({.from = link.to, .out = false});
}

lp::Flow<Page> pages_of(const lp::Flow<std::string_view>& lines) {
  return lines.flat_map<Link>(links_of)
      .key_by([](const Link& link) { return link.from; }, {.name = "pages"})
      .group<Page>([](std::uint64_t number, lp::Records<Link>& links, auto& out) {
        Page page{.number = number};
        for (const Link& link : links) {
          if (link.out) page.links.push_back(link.to);
        }
        out(std::move(page));
      });
}

lp::Flow<Page> next_round(const lp::Flow<Page>& pages, std::uint32_t round) {
  const auto votes = pages.flat_map<Vote>([](const Page& page, auto& out) {
    for (const std::uint64_t to : page.links) {
      out({.to = to, .from = page.number, .share = page.rank / static_cast<double>(page.links.size())});
    }
  });
  return pages.key_by([](const Page& page) { return page.number; }, {.name = "round" + std::to_string(round)})
      .co_group<Page>(votes.key_by([](const Vote& vote) { return vote.to; }),
                      [](std::uint64_t, const std::vector<Page>& page, std::vector<Vote> all, auto& out) {
                        std::sort(all.begin(), all.end(), [](const Vote& a, const Vote& b) { return a.from < b.from; });
                        double sum = 0;
                        for (const Vote& vote : all) sum += vote.share;
                        Page next = page.at(0);
                        next.rank = 0.15 + 0.85 * sum;
                        out(std::move(next));
                      });
}

lp::Program make_program(const Config& config) {
  lp::Pipeline pipeline;
  lp::Flow<Page> pages = pages_of(lines_of(pipeline, config.pipeline));
  for (std::uint32_t round = 1; round <= config.rounds; ++round) pages = next_round(pages, round);
  pages.write(config.pipeline.into, [](const Page& page, lp::Output& out) { out.line(page.number, '\t', page.rank); });
  lp::Program program("pagerank");
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

lp::PipelineResult report(lp::Run& run, const Config&) {
  return run.client<lp::PipelineMaster>("pipeline").call<&lp::PipelineMaster::result>();
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }
