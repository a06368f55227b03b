// Updates of evidence by the labels of a stream: functions, regressions on them, and competing candidates.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algebra/updates.hpp"
#include "art/model.hpp"
#include "evidence/rank_tables.hpp"
#include "evidence/rbf.hpp"
#include "runtime/dispatch.hpp"
#include "runtime/interrupt.hpp"

namespace sslart {

// Scores, boxes, a constant, and a trend in each of the first features, where values are mixed with their ranks.
struct StreamFunctions {
    RankTables ranks;
    double rank_weight;
    std::vector<float> lower, upper;
    Index n_blocks, n_features, n_boxes;
    double width;   // a box is exp(−distance / width)
    double middle;  // where a trend is zero
    Index n_trends;

    Index size(Index n_classes) const { return n_classes + n_boxes + 1 + n_trends; }

    // scores: samples × classes; out: samples × functions
    void values(const double* samples, Index n_samples, const double* scores, Index n_classes, double* out,
                Interrupt& interrupt) const {
        const EvidenceLoops& loops = chosen_instructions().load()->loops;
        const PackedBoxes boxes{lower.data(), upper.data(), n_blocks, n_features};
        std::vector<double> blended(static_cast<std::size_t>(n_features));
        std::vector<float> single(blended.size()), distances(static_cast<std::size_t>(boxes.n_boxes()));
        for (Index i = 0; i < n_samples; ++i, samples += n_features, scores += n_classes) {
            if (!interrupt.may_continue(boxes.n_boxes() * (n_features + 1))) return;
            for (Index f = 0; f < n_features; ++f) {
                const double value = samples[f];
                blended[f] = ranks.has_table(f)
                                 ? (1.0 - rank_weight) * value + rank_weight * ranks.share(f, value)
                                 : value;
                single[f] = static_cast<float>(blended[f]);
            }
            measure(loops, boxes, single.data(), 1, distances.data());
            out = std::copy_n(scores, n_classes, out);
            for (Index box = 0; box < n_boxes; ++box) *out++ = std::exp(-static_cast<double>(distances[box]) / width);
            *out++ = 1.0;
            for (Index f = 0; f < n_trends; ++f) *out++ = std::isnan(blended[f]) ? 0.0 : blended[f] - middle;
        }
    }

    // scores, samples × classes, become the sums of the functions times weights, functions × classes
    void weigh(const double* samples, Index n_samples, double* scores, const double* weights, Index n_classes,
               Interrupt& interrupt) const {
        std::vector<double> own(static_cast<std::size_t>(size(n_classes)));
        for (Index i = 0; i < n_samples; ++i, samples += n_features, scores += n_classes) {
            values(samples, 1, scores, n_classes, own.data(), interrupt);
            std::fill_n(scores, n_classes, 0.0);
            const double* weight = weights;
            for (const double value : own)
                for (Index c = 0; c < n_classes; ++c) scores[c] += value * *weight++;
        }
    }
};

// Candidates that predict labels, one after another: their errors decide what each counts for the next label.
struct Competition {
    double sharpness, kept;  // of the losses, and the share of them that remains after a label
    Index n_candidates, n_classes;

    double share_of(double loss, double least) const { return std::exp(-sharpness * (loss - least)); }

    // scores: candidates × classes of one label; returns the class that all predict together
    Index learn(const double* scores, Index target, double* losses, double* errors, std::vector<double>& sums) const {
        const double least = *std::min_element(losses, losses + n_candidates);
        sums.assign(static_cast<std::size_t>(n_classes), 0.0);
        for (Index r = 0; r < n_candidates; ++r) {
            const double* own = scores + r * n_classes;
            const double share = share_of(losses[r], least);
            double loss = 0.0;
            for (Index c = 0; c < n_classes; ++c) {
                const double error = own[c] - (c == target ? 1.0 : 0.0);
                sums[c] += share * own[c];
                loss += error * error;
            }
            const double wrong = std::max_element(own, own + n_classes) - own == target ? 0.0 : 1.0;
            losses[r] = kept * losses[r] + (loss + wrong) / 2.0;
            errors[r] = kept * errors[r] + wrong;
        }
        return std::max_element(sums.begin(), sums.end()) - sums.begin();
    }
};

// Regressions on some of the functions, one for each half-life.
struct Regressions {
    const double* inverses;  // half-lives × n × n
    double* next;            // those after the labels
    double* weights;         // half-lives × n × classes, which are changed
    const Index* columns;    // the functions that take part
    Index n;
};

// Labels of a stream, which regressions learn one after another, each candidate predicting a label before it learns it.
class LabelLearner {
public:
    struct Settings {
        const double* half_lives;
        Index n_half_lives;
        double max_forgotten;   // by one label, over the number of functions
        const double* ridges;   // λ of each function
        const double* first;    // functions × classes: the weights without any label
        Competition competition;
    };

    LabelLearner(const Settings& settings, const AlgebraLoops& loops) : settings_(settings), update_(loops) {
        scores_.resize(static_cast<std::size_t>(settings.competition.n_candidates * settings.competition.n_classes));
    }

    // `values`: all functions at the sample; `passed`: how many samples have come since the label before; `turn`: how
    // many labels there have been. Returns the class that all candidates together predict.
    Index learn(const std::vector<Regressions>& parts, bool is_first, const double* values, Index target,
                double importance, double passed, Index turn, double* losses, double* errors) {
        const Index n_classes = settings_.competition.n_classes;
        double* scores = scores_.data();
        for (const Regressions& part : parts) {
            const Index n = part.n, place = turn % n, column = part.columns[place];
            const double least = 1.0 - settings_.max_forgotten / std::max(static_cast<double>(n),
                                                                          2.0 * settings_.max_forgotten);
            some_.resize(static_cast<std::size_t>(n));
            for (Index k = 0; k < n; ++k) some_[k] = values[part.columns[k]];
            for (Index r = 0; r < settings_.n_half_lives; ++r, scores += n_classes) {
                double* next = part.next + r * n * n;
                const Regression own{is_first ? part.inverses + r * n * n : next, next,
                                     part.weights + r * n * n_classes, n, n_classes};
                const double kept = std::max(std::pow(2.0, -passed / settings_.half_lives[r]), least);
                update_.learn(own, some_.data(), target, importance, kept, scores);
                if (kept == 1.0) {
                    update_.shrink(own);
                } else {
                    const double amount = settings_.ridges[column] * (1.0 - kept) * static_cast<double>(n);
                    update_.shrink_and_forget(own, 1.0 / kept, place, amount, settings_.first + column * n_classes);
                }
            }
        }
        return settings_.competition.learn(scores_.data(), target, losses, errors, sums_);
    }

private:
    Settings settings_;
    RankOneUpdate update_;
    std::vector<double> some_, scores_, sums_;
};

}  // namespace sslart
