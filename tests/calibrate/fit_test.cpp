// The fit of the device model's constants.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "tests/calibrate/synthetic.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/parameters.h"

namespace nereid::calibrate {
namespace {

using sim::DeviceModel;

std::vector<const Sample *> pointers(const std::vector<Sample> &samples) {
  std::vector<const Sample *> result;
  for (const Sample &sample : samples)
    result.push_back(&sample);
  return result;
}

/// A device that is unlike the shipped one in every constant.
DeviceModel other_device() {
  DeviceModel model;
  double factor = 1.1;
  for (const Parameter &parameter : parameters()) {
    model.*parameter.member = model.*parameter.member * factor + (parameter.upper - parameter.lower) * 0.002;
    factor = 2.2 - factor;
  }
  model.campaign_us = 0.7;
  return model;
}

void expect_same(const DeviceModel &a, const DeviceModel &b, double share_of_value) {
  for (const Parameter &parameter : parameters())
    EXPECT_NEAR(a.*parameter.member, b.*parameter.member, share_of_value * std::abs(b.*parameter.member))
        << parameter.name;
}

TEST(Fit, FindsTheConstantsThatMadeTheTimes) {
  const DeviceModel truth = other_device();
  const std::vector<Sample> samples = test::synthetic_samples(truth);
  const Fit found = fit(pointers(samples));
  EXPECT_LT(found.loss, 1e-12);
  expect_same(found.model, truth, 1e-3);
}

TEST(Fit, AFewWildTimesMoveItLittle) {
  const DeviceModel truth = other_device();
  std::vector<Sample> samples = test::synthetic_samples(truth);
  for (size_t i = 0; i < samples.size(); i += 40)
    samples[i].measured.us *= 3;
  expect_same(fit(pointers(samples)).model, truth, 0.15);
}

TEST(Fit, TwoRunsGiveTheSameBits) {
  const std::vector<Sample> samples = test::synthetic_samples(other_device());
  const DeviceModel first = fit(pointers(samples)).model, second = fit(pointers(samples)).model;
  expect_same(first, second, 0);
  EXPECT_EQ(cross_validate(samples, 5), cross_validate(samples, 5));
}

TEST(Fit, StaysInTheRanges) {
  std::vector<Sample> samples = test::synthetic_samples({});
  for (Sample &sample : samples)
    sample.measured.us /= 50;
  const DeviceModel model = fit(pointers(samples)).model;
  for (const Parameter &parameter : parameters()) {
    EXPECT_GE(model.*parameter.member, parameter.lower) << parameter.name;
    EXPECT_LE(model.*parameter.member, parameter.upper) << parameter.name;
  }
}

TEST(Fit, OfNothingIsItsStart) { expect_same(fit({}, other_device()).model, other_device(), 0); }

TEST(Fit, HasAtMostTwelveConstants) { EXPECT_LE(parameters().size(), 12u); }

TEST(CrossValidation, NoPairIsInTwoFolds) {
  const std::vector<Sample> samples = test::synthetic_samples({});
  const std::vector<unsigned> folds = fold_of_samples(samples, 5);
  std::map<std::pair<size_t, size_t>, unsigned> fold_of_pair;
  std::vector<size_t> sizes(5, 0);
  for (size_t i = 0; i < samples.size(); ++i) {
    const Shape &shape = samples[i].measured.shape;
    const auto [known, added] = fold_of_pair.insert({{shape.n, shape.k}, folds[i]});
    EXPECT_EQ(known->second, folds[i]);
    ++sizes.at(folds[i]);
  }
  for (const size_t size : sizes)
    EXPECT_GE(size, 40u);
}

TEST(CrossValidation, APairsTimesDoNotReachItsOwnPrediction) {
  std::vector<Sample> samples = test::synthetic_samples({});
  const std::vector<double> before = cross_validate(samples, 5);
  const Shape touched = samples.front().measured.shape;
  for (Sample &sample : samples)
    if (sample.measured.shape.n == touched.n && sample.measured.shape.k == touched.k)
      sample.measured.us *= 2;
  const std::vector<double> after = cross_validate(samples, 5);
  const std::vector<unsigned> folds = fold_of_samples(samples, 5);
  bool others_moved = false;
  for (size_t i = 0; i < samples.size(); ++i)
    if (folds[i] == folds.front())
      EXPECT_EQ(before[i], after[i]);
    else
      others_moved = others_moved || before[i] != after[i];
  EXPECT_TRUE(others_moved);
}

} // namespace
} // namespace nereid::calibrate
