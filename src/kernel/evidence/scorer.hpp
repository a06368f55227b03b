// Evidence scores of samples: a bias and a sum of terms, each on its own mixture of values and ranks.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "art/model.hpp"
#include "evidence/rank_tables.hpp"
#include "evidence/terms.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/parallel.hpp"

namespace sslart {

class Scorer {
public:
    explicit Scorer(std::vector<double> bias) : bias_(std::move(bias)) {}

    Index n_classes() const { return static_cast<Index>(bias_.size()); }

    void set_ranks(RankTables ranks) { ranks_ = std::move(ranks); }

    void add_term(double rank_weight, std::unique_ptr<const Term> term) {
        const auto known = std::find(rank_weights_.begin(), rank_weights_.end(), rank_weight);
        const Index mixture = known - rank_weights_.begin();
        if (known == rank_weights_.end()) rank_weights_.push_back(rank_weight);
        terms_.push_back({mixture, std::move(term)});
    }

    // out: samples × classes. Stops early, with scores missing, where the interrupt demands it.
    void scores(const double* samples, Index n_samples, Index n_features, double* out, Index n_threads,
                Interrupt& interrupt) const {
        const Instructions& instructions = *chosen_instructions();
        const Index tile = tile_size(n_features), cost = cost_of_sample(n_features);
        parallel_for({n_samples, cost, tile}, n_threads, interrupt, [&] {
            return [&, scratch = Scratch{}](Index first, Index last, Interrupt& own) mutable {
                for (; first < last; first += tile) {
                    const Index n = std::min(tile, last - first);
                    if (!own.may_continue(n * cost)) return false;
                    score_tile(instructions, samples + first * n_features, n, n_features, out + first * n_classes(),
                               scratch);
                }
                return true;
            };
        });
    }

    // by_column: samples × columns × classes; of_graph: samples × classes; columns: the column of each feature
    void contributions(const double* samples, Index n_samples, Index n_features, const Index* columns, Index n_columns,
                       double* by_column, double* of_graph, Index n_threads, Interrupt& interrupt) const {
        const Instructions& instructions = *chosen_instructions();
        constexpr Index kTile = 4;
        const Index cost = kCostOfContributions * cost_of_sample(n_features);
        parallel_for({n_samples, cost, kTile}, n_threads, interrupt, [&] {
            return [&, scratch = Scratch{}](Index first, Index last, Interrupt& own) mutable {
                for (; first < last; first += kTile) {
                    const Index n = std::min(kTile, last - first);
                    if (!own.may_continue(n * cost)) return false;
                    const double* tile = samples + first * n_features;
                    double *columns_of_tile = by_column + first * n_columns * n_classes(),
                           *graph_of_tile = of_graph + first * n_classes();
                    std::fill_n(columns_of_tile, n * n_columns * n_classes(), 0.0);
                    std::fill_n(graph_of_tile, n * n_classes(), 0.0);
                    blend(tile, n, n_features, scratch);
                    const ContributionSums sums{columns_of_tile, graph_of_tile, n_columns, n_classes(), columns};
                    for (const MixedTerm& mixed : terms_) {
                        const double* values = is_blended(mixed.mixture) ? scratch.blended[mixed.mixture].data() : tile;
                        mixed.term->contribute({values, n, n_features}, instructions, sums, scratch.terms);
                    }
                }
                return true;
            };
        });
    }

private:
    static constexpr Index kCostOfContributions = 24;  // against a score

    struct MixedTerm {
        Index mixture;  // index of the rank weight
        std::unique_ptr<const Term> term;
    };

    struct Scratch {
        std::vector<double> ranks;                 // of one sample
        std::vector<std::vector<double>> blended;  // per rank weight: samples × features
        TermScratch terms;
    };

    // number of samples that fit into the cache together with the boxes of a term
    static Index tile_size(Index n_features) {
        return std::clamp<Index>(4096 / std::max<Index>(n_features, 1) / 4 * 4, 4, 64);
    }

    Index cost_of_sample(Index n_features) const {
        Index cost = n_features * (1 + static_cast<Index>(rank_weights_.size()));
        for (const MixedTerm& mixed : terms_) cost += mixed.term->cost();
        return cost;
    }

    void score_tile(const Instructions& instructions, const double* samples, Index n_samples, Index n_features,
                    double* out, Scratch& scratch) const {
        blend(samples, n_samples, n_features, scratch);
        for (Index i = 0; i < n_samples; ++i) std::copy(bias_.begin(), bias_.end(), out + i * n_classes());
        for (const MixedTerm& mixed : terms_) {
            const double* values = is_blended(mixed.mixture) ? scratch.blended[mixed.mixture].data() : samples;
            mixed.term->add({values, n_samples, n_features}, instructions, out, scratch.terms);
        }
    }

    bool is_blended(Index mixture) const { return rank_weights_[mixture] != 0.0 && ranks_.n_features() > 0; }

    // (1 − weight) · value + weight · rank, for every rank weight
    void blend(const double* samples, Index n_samples, Index n_features, Scratch& scratch) const {
        scratch.blended.resize(rank_weights_.size());
        scratch.ranks.resize(static_cast<std::size_t>(n_features));
        bool any = false;
        for (std::size_t m = 0; m < rank_weights_.size(); ++m)
            if (is_blended(static_cast<Index>(m))) {
                scratch.blended[m].assign(samples, samples + n_samples * n_features);
                any = true;
            }
        if (!any) return;
        for (Index i = 0; i < n_samples; ++i) {
            const double* sample = samples + i * n_features;
            for (Index f = 0; f < n_features; ++f)
                if (ranks_.has_table(f)) scratch.ranks[f] = ranks_.share(f, sample[f]);
            for (std::size_t m = 0; m < rank_weights_.size(); ++m) {
                if (!is_blended(static_cast<Index>(m))) continue;
                const double weight = rank_weights_[m];
                double* blended = scratch.blended[m].data() + i * n_features;
                for (Index f = 0; f < n_features; ++f)
                    if (ranks_.has_table(f)) blended[f] = (1.0 - weight) * sample[f] + weight * scratch.ranks[f];
            }
        }
    }

    std::vector<double> bias_;
    RankTables ranks_;
    std::vector<double> rank_weights_;
    std::vector<MixedTerm> terms_;
};

}  // namespace sslart
