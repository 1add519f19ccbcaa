"""Stable-Baselines3 learns CartPole until it reaches a mean reward of 475, by the rule of lp's evaluator.

The rule: 100 episodes have a mean of 475, and 100 others have a mean that exceeds 475 by its standard error.

Usage: sb3_peer.py dqn|ppo SEED, with the python of an environment that has stable-baselines3, torch and gymnasium. Prints
a JSON object. The networks, and the time from one evaluation to the next, are lp's; the other parameters are those that
RL Baselines3 Zoo has tuned for CartPole. The time of evaluations does not count.
"""

import json
import statistics
import sys
import time

from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

GOAL = 475
MOST_STEPS = 500_000
PERIOD = 0.25  # seconds, as learning_bench.cc


def reaches_goal(model, environments):
    """Whether the policy reaches the goal, and the mean of the last 100 episodes."""
    rewards, _ = evaluate_policy(model, environments, n_eval_episodes=100, return_episode_rewards=True)
    if statistics.mean(rewards) >= GOAL:
        rewards, _ = evaluate_policy(model, environments, n_eval_episodes=100, return_episode_rewards=True)
    mean = statistics.mean(rewards)
    return mean - statistics.stdev(rewards) / len(rewards) ** 0.5 >= GOAL, mean


class UntilGoal(BaseCallback):
    def __init__(self, seed):
        super().__init__()
        self.environments = make_vec_env("CartPole-v1", n_envs=10, seed=1000 + seed)
        self.learned = 0.0  # seconds
        self.since = None
        self.mean = 0.0
        self.reached = False

    def _on_training_start(self):
        self.since = time.perf_counter()

    def _on_step(self):
        seconds = time.perf_counter() - self.since
        if seconds < PERIOD:
            return True
        self.learned += seconds
        self.evaluate()
        self.since = time.perf_counter()
        return not self.reached

    def evaluate(self):
        self.reached, self.mean = reaches_goal(self.model, self.environments)


def ppo(seed):
    environments = make_vec_env("CartPole-v1", n_envs=8, seed=seed)
    network = {"net_arch": {"pi": [64, 64], "vf": [64, 64]}}
    return PPO("MlpPolicy", environments, n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20,
               learning_rate=lambda left: 0.001 * left, clip_range=lambda left: 0.2 * left, policy_kwargs=network,
               seed=seed, device="cpu"), 100_000


def dqn(seed):
    network = {"net_arch": [128, 128]}
    return DQN("MlpPolicy", make_vec_env("CartPole-v1", n_envs=1, seed=seed), learning_rate=2.3e-3, batch_size=64,
               buffer_size=100_000, learning_starts=1000, gamma=0.99, target_update_interval=10, train_freq=256,
               gradient_steps=128, exploration_fraction=0.16, exploration_final_eps=0.04, policy_kwargs=network,
               seed=seed, device="cpu"), 50_000


def main():
    name, seed = sys.argv[1], int(sys.argv[2])
    steps = 0
    callback = UntilGoal(seed)
    model, budget = {"dqn": dqn, "ppo": ppo}[name](seed)
    begin = True
    while not callback.reached and steps < MOST_STEPS:  # a schedule ends with its budget; then it learns on
        model.learn(budget, callback=callback, reset_num_timesteps=begin)
        if not callback.reached:
            callback.learned += time.perf_counter() - callback.since
            callback.evaluate()
        steps, begin = model.num_timesteps, False
    print(json.dumps({"agent": name, "seed": seed, "reached": bool(callback.reached), "seconds": callback.learned,
                      "steps": steps, "mean": float(callback.mean)}))


if __name__ == "__main__":
    main()
