"""The messages of the protocol: conversion of games' objects and of the envelope to bytes and back."""
