// PageRank (Brin and Page, 1998): rank = 0.15 + 0.85 * sum of rank / links of the pages that link to a page. A line has
// the numbers of two pages, of which the first links to the second. A line that is empty or begins with '#' is left
// out.
//
//   build/examples/pagerank --pipeline.input=links.txt --pipeline.into=ranks --rounds=10 --launch=processes
//
// Each round is a stage. The links stay on disk, sorted by page, where every round reads them; votes alone go from
// round to round. Those for a page are added in the order of their pages, so that the ranks have the same bits for any
// number of replicas.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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
  std::vector<std::uint64_t> links{};
};
struct Vote {
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  double share = 0;
};

using Rank = std::pair<std::uint64_t, double>;

void links_of(std::string_view line, lp::dataflow::Collector<Link>& out) {
  std::vector<std::string_view> words;
  for (const std::string_view word : lp::words(line)) words.push_back(word);
  if (words.empty() || words[0].starts_with('#')) return;  // a comment
  if (words.size() != 2) throw lp::Error(lp::ErrorKind::failed, "a line does not have the numbers of two pages");
  const auto page = [](std::string_view word) {
    return lp::number_of<std::uint64_t>(word, "a line does not have the numbers of two pages");
  };
  const Link link{.from = page(words[0]), .to = page(words[1])};
  out(link);
  out({.from = link.to, .out = false});
}

double rank_of(std::vector<Vote> votes) {
  std::sort(votes.begin(), votes.end(), [](const Vote& a, const Vote& b) { return a.from < b.from; });
  double sum = 0;
  for (const Vote& vote : votes) sum += vote.share;
  return 0.15 + 0.85 * sum;
}

void vote(const Page& page, double rank, lp::dataflow::Collector<Vote>& out) {
  const double share = rank / static_cast<double>(page.links.size());
  for (const std::uint64_t to : page.links) out({.to = to, .from = page.number, .share = share});
}

// All pages, on disk, by their numbers.
lp::CachedFlow<std::uint64_t, Page> pages_of(const lp::Flow<std::string_view>& lines) {
  return lines.flat_map<Link>(links_of)
      .key_by([](const Link& link) { return link.from; }, {.name = "pages"})
      .group<Page>([](std::uint64_t number, lp::Records<Link>& links, auto& out) {
        Page page{.number = number};
        for (const Link& link : links) {
          if (link.out) page.links.push_back(link.to);
        }
        out(std::move(page));
      })
      .key_by([](const Page& page) { return page.number; }, {.name = "sorted"})
      .cache();
}

lp::Program make_program(const Config& config) {
  lp::Pipeline pipeline;
  const auto pages = pages_of(lines_of(pipeline, config.pipeline));
  auto votes = pages.group<Vote>(
      [](std::uint64_t, const std::vector<Page>& page, auto& out) { vote(page.at(0), 1, out); }, {.name = "round0"});
  const auto votes_by_page = [&](std::uint32_t round) {
    return votes.key_by([](const Vote& one) { return one.to; }, {.name = "round" + std::to_string(round)});
  };
  for (std::uint32_t round = 1; round < config.rounds; ++round) {
    votes = pages.co_group<Vote>(votes_by_page(round),
                                 [](std::uint64_t, const std::vector<Page>& page, const std::vector<Vote>& all,
                                    auto& out) { vote(page.at(0), rank_of(all), out); });
  }
  pages
      .co_group<Rank>(votes_by_page(config.rounds),
                      [](std::uint64_t page, const std::vector<Page>&, const std::vector<Vote>& all, auto& out) {
                        out({page, rank_of(all)});
                      })
      .write(config.pipeline.into, [](const Rank& one, lp::Output& out) { out.line(one.first, '\t', one.second); });
  lp::Program program("pagerank");
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

lp::PipelineResult report(lp::Run& run, const Config&) {
  return run.client<lp::PipelineMaster>("pipeline").call<&lp::PipelineMaster::result>();
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }
