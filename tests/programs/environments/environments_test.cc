// The bundled environments against trajectories of Gymnasium 1.4.0, which were recorded once (CartPole-v1, Acrobot-v1,
// MountainCar-v0 and Pendulum-v1, from a given state with given actions), and Catch against its rules.
#include "programs/environments/environments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "lp/base/error.h"
#include "programs/environments/acrobot.h"
#include "programs/environments/cart_pole.h"
#include "programs/environments/catch.h"
#include "programs/environments/environment_batch.h"
#include "programs/environments/mountain_car.h"
#include "programs/environments/pendulum.h"

namespace lp {
namespace {

constexpr double kNear = 1e-9;  // libm's last bits grow over the steps

TEST(CartPoleTest, FollowsGymnasium) {
  CartPole::State state{.position = 0.01, .speed = -0.02, .angle = 0.03, .turn = 0.04};
  std::vector<CartPole::State> states;
  for (int i = 0; i < 30; ++i) states.push_back(state = CartPole::after(state, i * i / 3 % 2 == 1));
  EXPECT_NEAR(states[0].speed, -0.21553901710278936, kNear);
  EXPECT_NEAR(states[0].turn, 0.34199522377603914, kNear);
  EXPECT_NEAR(states[9].position, -0.021873836149393557, kNear);
  EXPECT_NEAR(states[9].angle, 0.091338176998998405, kNear);
  EXPECT_NEAR(states[29].speed, -0.078477891305641423, kNear);
  EXPECT_NEAR(states[29].turn, 1.4321485656348742, kNear);
  EXPECT_FALSE(CartPole::fallen(states[9]));
  EXPECT_TRUE(CartPole::fallen(states[29]));
  EXPECT_TRUE(CartPole::fallen({.position = -2.41}));
  EXPECT_FALSE(CartPole::fallen({.position = 2.39, .angle = 0.2094}));
}

TEST(AcrobotTest, FollowsGymnasium) {
  Acrobot::State state{.first = 0.05, .second = -0.08, .first_turn = 0.02, .second_turn = 0.09};
  std::vector<Acrobot::State> states;
  for (int i = 0; i < 60; ++i) states.push_back(state = Acrobot::after(state, i / 4 % 3 - 1));
  EXPECT_NEAR(states[0].first, 0.05965901980311266, kNear);
  EXPECT_NEAR(states[0].second_turn, -0.12690952436270039, kNear);
  EXPECT_NEAR(states[19].second, -0.22916513574822478, kNear);
  EXPECT_NEAR(states[59].first, -1.0668744802692043, kNear);
  EXPECT_NEAR(states[59].second, 1.1418699651505739, kNear);
  EXPECT_NEAR(states[59].second_turn, 4.786609173987852, kNear);
  EXPECT_FALSE(Acrobot::swung_up({}));
  EXPECT_TRUE(Acrobot::swung_up({.first = 3.1}));
}

TEST(MountainCarTest, FollowsGymnasium) {
  MountainCar::State state{.position = -0.5};
  std::vector<MountainCar::State> states;
  while (!MountainCar::at_flag(state)) {
    states.push_back(state = MountainCar::after(state, state.speed < 0 ? -1 : 1));
    ASSERT_LE(states.size(), 124U);
  }
  ASSERT_EQ(states.size(), 124U);
  EXPECT_NEAR(states[0].speed, 0.00082315699583074275, kNear);
  EXPECT_NEAR(states[39].position, -0.27055587676821391, kNear);
  EXPECT_NEAR(states[79].speed, -0.0064710404816384695, kNear);
  EXPECT_NEAR(states[123].position, 0.53494998256557358, kNear);
  EXPECT_EQ(MountainCar::after({.position = -1.2, .speed = -0.05}, 0).speed, 0);  // the left wall stops the car
}

TEST(PendulumTest, FollowsGymnasium) {
  Pendulum::State state{.angle = 2.5, .turn = -0.7};
  double cost = 0;
  std::vector<Pendulum::State> states;
  std::vector<double> costs;
  for (int i = 0; i < 80; ++i) {
    const double torque = 2 * std::sin(i);
    cost += Pendulum::cost(state, torque);
    state = Pendulum::after(state, torque);
    costs.push_back(cost);
    states.push_back(state);
  }
  EXPECT_NEAR(states[0].turn, -0.25114589192203252, kNear);
  EXPECT_NEAR(costs[0], 6.299, kNear);
  EXPECT_NEAR(states[19].angle, 3.6742694697897824, kNear);
  EXPECT_NEAR(state.angle, 3.662547093223893, 1e-6);
  EXPECT_NEAR(state.turn, 1.8682634436703256, 1e-6);
  EXPECT_NEAR(cost, 626.85707534551102, 1e-5);
}

// The column of the ball, or of the paddle in the last row.
Eigen::Index column_in(const Eigen::MatrixXf& board, int row) {
  Eigen::Index column = 0;
  board.col(0).segment(row * Catch::kColumns, Catch::kColumns).maxCoeff(&column);
  return column;
}

TEST(CatchTest, APaddleThatFollowsTheBallCatchesItAndOneThatFleesMisses) {
  for (const bool follow : {true, false}) {
    EnvironmentBatch batch([] { return make_environment("catch"); }, 1, 7);
    Eigen::MatrixXf action(1, 1);
    double reward = 0;
    for (int episode = 0; episode < 50; ++episode) {
      for (int row = 0; row < Catch::kRows - 1; ++row) {
        ASSERT_EQ(batch.observations().sum(), 2);
        const Eigen::Index ball = column_in(batch.observations(), row);
        const Eigen::Index paddle = column_in(batch.observations(), Catch::kRows - 1);
        action(0) =
            1 + static_cast<float>(follow ? (ball > paddle) - (ball < paddle) : (ball < Catch::kColumns / 2 ? 1 : -1));
        batch.step(action);
        ASSERT_EQ(batch.ends()[0] != EpisodeEnd::none, row == Catch::kRows - 2);
      }
      reward += batch.finished()[0].reward;
    }
    EXPECT_EQ(reward, follow ? 50 : -50);
  }
}

TEST(EnvironmentsTest, EachNamedEnvironmentHasASpecThatItKeeps) {
  ASSERT_EQ(environment_names().size(), 5U);
  for (const std::string& name : environment_names()) {
    EnvironmentBatch batch([&] { return make_environment(name); }, 3, 1);
    EXPECT_EQ(batch.spec().name, name);
    Random random(1, "actions");
    Eigen::MatrixXf actions(batch.spec().action.size(), 3);
    std::uint64_t steps = 0;
    for (std::size_t finished = 0; finished < 5; finished += batch.finished().size()) {
      ASSERT_LT(++steps, 5 * batch.spec().most_steps);
      const ActionSpace& space = batch.spec().action;
      for (float& one : actions.reshaped()) {
        one = space.discrete() ? static_cast<float>(random.below(static_cast<std::uint64_t>(space.choices)))
                               : static_cast<float>(random.normal());
      }
      batch.step(actions);
      for (const FinishedEpisode& one : batch.finished()) EXPECT_LE(one.steps, batch.spec().most_steps);
    }
  }
}

TEST(EnvironmentsTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    make_environment("cartpool");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(),
              "there is no environment \"cartpool\": choose one of acrobot, cartpole, catch, mountaincar, pendulum");
  }
}

}  // namespace
}  // namespace lp
